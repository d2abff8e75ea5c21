import { describe, expect, it } from "vitest";
import { Exchange } from "../../../src/links/exchange.js";
import type {
	Line,
	LinkMessage,
	RoundNews,
} from "../../../src/links/messages.js";
import type {
	LinkedAgent,
	RecordWritten,
	RideMessage,
} from "../../../src/model/index.js";

const DECIDED_MS = 6_000;
const POLL = { kind: "poll", plan: "plan", poll: 1 } as const;
const AWAY = { kind: "away", plan: "plan", poll: 1, isMember: true } as const;
const WRITE = { number: 1, round: 5, present: 6, lease: "7", value: "{}" };

function agent(nodeId: string): LinkedAgent {
	const bytes = Buffer.alloc(16, nodeId).toString("hex");
	const link = { address: nodeId, port: 1, secret: bytes };
	return { nodeId, incarnation: `${nodeId}.1`, link };
}

/** A connection, whose two ends are those of two agents. */
interface Wire {
	readonly caller: Node;
	readonly callee: Node;
	readonly up: Line;
	readonly down: Line;
}

interface Node {
	readonly self: LinkedAgent;
	readonly exchange: Exchange;
	called: Wire | undefined;
	/** Who was called last without an answer. */
	inVain: LinkedAgent | undefined;
	/** What it was told, of each kind. */
	readonly rides: (readonly [from: string, said: RideMessage])[];
	readonly asked: LinkedAgent[];
	readonly learned: (RecordWritten | undefined)[];
	readonly news: (RoundNews | null)[];
}

/** Agents that hear each other at once, while they are there. */
class Net {
	now = 0;
	/** All that was said, as it could be read on the way. */
	readonly said: string[] = [];
	readonly dead = new Set<string>();
	private readonly nodes = new Map<string, Node>();

	node(nodeId: string): Node {
		const known = this.nodes.get(nodeId);
		if (known) return known;
		const self = agent(nodeId);
		const exchange = new Exchange({
			now: () => this.now,
			decidedMs: DECIDED_MS,
			call: ({ agent: callee }) => this.call(node, callee),
		});
		const node: Node = {
			...{ self, exchange, called: undefined, inVain: undefined },
			...{ rides: [], asked: [], learned: [], news: [] },
		};
		exchange.listen((...said) => node.rides.push(said));
		exchange.onRecords(
			(from) => node.asked.push(from),
			(written) => node.learned.push(written),
		);
		exchange.onRound((news) => node.news.push(news));
		this.nodes.set(nodeId, node);
		return node;
	}

	/** They see a round with these speakers. The first one is its head, and that of the members without speakers. */
	round(planId: string, ...groups: readonly (readonly string[])[]): void {
		const [[head = ""] = []] = groups;
		for (const members of groups) {
			for (const [index, nodeId] of members.entries()) {
				const speakers = members.slice(0, Math.min(index, 2)).map(agent);
				const { self, exchange } = this.node(nodeId);
				const { incarnation } = self;
				const round = { planId, head: agent(head) };
				exchange.follow(self, round, { incarnation, planId, speakers });
			}
		}
		this.node(head).exchange.begin(planId);
	}

	/** It ends without a word. */
	kill(nodeId: string): void {
		this.dead.add(`${nodeId}.1`);
		for (const one of this.nodes.values()) {
			const wire = one.called;
			if (wire?.callee.self.nodeId === nodeId) this.close(wire);
		}
		const own = this.node(nodeId).called;
		if (own) this.close(own);
	}

	close(wire: Wire, inOrder = false): void {
		const { caller, callee, up, down } = wire;
		if (caller.called === wire) caller.called = undefined;
		this.tell(callee, () => callee.exchange.callerClosed(down));
		this.tell(caller, () =>
			caller.exchange.calleeClosed(callee.self, up, inOrder),
		);
	}

	private call(caller: Node, agent: LinkedAgent | undefined): void {
		const before = caller.called;
		if (before?.callee.self.incarnation === agent?.incarnation) return;
		caller.called = undefined;
		if (before) {
			before.up.send({ kind: "bye", leaves: false });
			this.close(before, true);
		}
		if (agent === undefined || this.dead.has(caller.self.incarnation)) return;
		if (this.dead.has(agent.incarnation)) {
			if (caller.inVain === agent) return;
			caller.inVain = agent;
			caller.exchange.calleeFailed(agent);
			return;
		}
		const callee = this.node(agent.nodeId);
		const wire: Wire = {
			...{ caller, callee },
			up: this.line(callee, (message) =>
				callee.exchange.hearCaller(caller.self, wire.down, message),
			),
			down: this.line(caller, (message) => {
				// It is known first.
				if (caller.called !== wire) open();
				caller.exchange.hearCallee(callee.self, wire.up, message);
			}),
		};
		const open = () => {
			caller.called = wire;
			caller.exchange.calleeOpened(agent, wire.up);
		};
		callee.exchange.callerOpened(caller.self, wire.down);
	}

	private line(to: Node, hear: (message: LinkMessage) => void): Line {
		return {
			send: (message) => {
				this.said.push(JSON.stringify(message));
				this.tell(to, () => hear(message));
			},
			close: () => {},
		};
	}

	private tell(to: Node, what: () => void): void {
		if (!this.dead.has(to.self.incarnation)) what();
	}
}

const GROUPS = [
	["a", "b"],
	["c", "d", "e", "f"],
] as const;

function grouped(): Net {
	const net = new Net();
	net.round("plan", ...GROUPS);
	return net;
}

const calleeOf = (net: Net, nodeId: string) =>
	net.node(nodeId).called?.callee.self.nodeId;
const news = (revision: number, value = "{}"): RoundNews => ({
	revision,
	entries: [
		{
			key: "round",
			value,
			createRevision: 1,
			modRevision: revision,
			lease: null,
		},
	],
});

describe("A6 A9 agents in groups", () => {
	it("call their speakers, and speak with the head by them", () => {
		const net = grouped();
		expect(["b", "c", "d", "e", "f"].map((id) => calleeOf(net, id))).toEqual([
			...["a", "a", "c", "c", "c"],
		]);
		const { exchange, rides } = net.node("a");
		expect([...exchange.known].sort()).toEqual([
			...["b.1", "c.1", "d.1", "e.1", "f.1"],
		]);
		expect([...exchange.state.heard].sort()).toEqual(["b", "c", "d", "e", "f"]);
		for (const one of exchange.known) exchange.tell(one, POLL);
		for (const id of ["b", "c", "d", "e", "f"]) {
			const node = net.node(id);
			expect(node.rides).toEqual([["a.1", POLL]]);
			expect(node.exchange.knownFor).toMatchObject({ plan: "plan" });
			node.exchange.tellHead(AWAY);
		}
		expect(rides).toEqual(
			["b", "c", "d", "e", "f"].map((id) => [`${id}.1`, AWAY]),
		);
	});

	it("ask the head for their records, which knows their secrets, and nobody on the way does", () => {
		const net = grouped();
		expect(net.node("f").exchange.askHead(WRITE)).toBe(true);
		expect(net.node("a").asked).toEqual([agent("f")]);
		net.node("a").exchange.answer("f.1", { number: 1, revision: 9 });
		expect(net.node("f").learned.at(-1)).toEqual({ number: 1, revision: 9 });
		net.node("c").exchange.tellRound(news(7, agent("a").link?.secret));
		expect(net.node("f").news.at(-1)?.revision).toBe(7);
		for (const { link } of ["a", "c", "f"].map(agent)) {
			expect(net.said.join()).not.toContain(link?.secret);
		}
	});

	it("call the next speaker where one dies, and the head where there is none", () => {
		const net = grouped();
		net.kill("c");
		expect(["d", "e", "f"].map((id) => calleeOf(net, id))).toEqual([
			...["a", "d", "d"],
		]);
		net.node("f").exchange.tellHead(AWAY);
		expect(net.node("a").rides).toEqual([["f.1", AWAY]]);
		expect(net.node("a").exchange.state.suspected).toEqual([
			{ nodeId: "c", why: "closed" },
		]);
		net.kill("d");
		expect(["e", "f"].map((id) => calleeOf(net, id))).toEqual(["a", "a"]);
		net.round("next", ["a", "b"], ["e", "f"]);
		expect(["e", "f"].map((id) => calleeOf(net, id))).toEqual(["a", "e"]);
	});

	it("call the next speaker where one is silent", () => {
		const net = grouped();
		const { exchange } = net.node("f");
		net.node("c").exchange.look();
		net.now = DECIDED_MS / 4;
		exchange.look();
		expect(calleeOf(net, "f")).toBe("c");
		net.now += 1;
		exchange.look();
		expect(calleeOf(net, "f")).toBe("d");
	});

	it("are suspected by the head where their speaker says that they have gone, until they come again", () => {
		const net = grouped();
		net.kill("f");
		const { exchange } = net.node("a");
		expect(exchange.state.suspected).toEqual([{ nodeId: "f", why: "closed" }]);
		expect(exchange.known).toContain("f.1");
		net.node("c").exchange.hearGuard(agent("f"));
		expect(exchange.known).not.toContain("f.1");
		const { called } = net.node("e");
		called?.up.send({ kind: "bye", leaves: true });
		expect(exchange.known).not.toContain("e.1");
		expect(exchange.state.heard).not.toContain("e");
	});

	it("are suspected by the head while their speaker does not hear them", () => {
		const net = grouped();
		const [a, c] = [net.node("a"), net.node("c")];
		const { called } = net.node("f");
		const seen = (ms: number) => {
			net.now += ms;
			for (const { exchange } of [c, a]) exchange.look();
			return a.exchange.state;
		};
		net.dead.add("f.1");
		expect(seen(450)).toMatchObject({ suspected: [] });
		const suspected = [{ nodeId: "f", why: "silent" }];
		expect(seen(1)).toMatchObject({ suspected });
		expect([...seen(0).heard].sort()).toEqual(["b", "c", "d", "e"]);
		c.exchange.hearGuard(agent("f"));
		net.dead.delete("f.1");
		expect(seen(0)).toMatchObject({ suspected: [] });
		expect(a.exchange.known).not.toContain("f.1");
		net.dead.add("f.1");
		expect(seen(451)).toMatchObject({ suspected });
		if (c.called) net.close(c.called);
		expect(calleeOf(net, "c")).toBe("a");
		expect(seen(0)).toMatchObject({ suspected });
		for (let ms = 0; ms < DECIDED_MS; ms += 400) seen(400);
		expect(seen(400)).toMatchObject({ suspected });
		if (called) net.close(called);
		expect(seen(0)).toMatchObject({ suspected: [] });
		expect(seen(0).heard).not.toContain("f");
	});

	it("are heard by the next speaker where the first one lives, but not for them", () => {
		const net = grouped();
		const [c, f] = [net.node("c"), net.node("f")];
		if (f.called) net.close(f.called);
		expect(["d", "e", "f"].map((id) => calleeOf(net, id))).toEqual([
			...["a", "c", "d"],
		]);
		expect(f.exchange.askHead(WRITE)).toBe(true);
		expect(net.node("a").asked).toEqual([agent("f")]);
		if (f.called) net.close(f.called);
		expect(["d", "f"].map((id) => calleeOf(net, id))).toEqual(["c", "a"]);
		expect(c.exchange.state.heard).toContain("d");
	});

	it("are heard by their newest speaker, though an earlier one speaks for them again", () => {
		const net = grouped();
		const [c, f] = [net.node("c"), net.node("f")];
		const opened = net.said.findLast((text) => text.includes('{"nodeId":"f"'));
		if (f.called) net.close(f.called);
		expect(calleeOf(net, "f")).toBe("d");
		// It does not know yet that its connection has ended, and calls the head again.
		c.called?.up.send(JSON.parse(opened ?? ""));
		const about = { kind: "passed", agent: "f.1", head: "a.1" } as const;
		c.called?.up.send({ ...about, passed: { kind: "closed" } });
		expect(f.exchange.askHead(WRITE)).toBe(true);
		expect(net.node("a").asked).toEqual([agent("f")]);
		net.node("a").exchange.tell("f.1", POLL);
		expect(f.rides).toEqual([["a.1", POLL]]);
	});

	it("write by themselves while their speaker does not hear the head, and call the next one after a time", () => {
		const net = grouped();
		net.kill("a");
		const { exchange, learned } = net.node("f");
		expect(learned.at(-1)).toBeUndefined();
		expect(exchange.askHead(WRITE)).toBe(false);
		expect(calleeOf(net, "f")).toBe("c");
		const lives = () => {
			for (const id of ["c", "d"]) net.node(id).exchange.look();
		};
		net.now = DECIDED_MS;
		lives();
		exchange.look();
		expect(calleeOf(net, "f")).toBe("c");
		net.now = DECIDED_MS + 1;
		lives();
		exchange.look();
		expect(calleeOf(net, "f")).toBe("d");
		net.round("next", ["b"], ["c", "d", "e", "f"]);
		expect(exchange.askHead(WRITE)).toBe(true);
		expect(net.node("b").asked).toEqual([agent("f")]);
	});

	it("are heard by the head of their round alone", () => {
		const net = grouped();
		// It has not seen yet that there is another round.
		const { self, exchange } = net.node("f");
		const place = {
			incarnation: "f.1",
			planId: "next",
			speakers: [agent("c")],
		};
		exchange.follow(self, { planId: "next", head: agent("b") }, place);
		expect(exchange.askHead(WRITE)).toBe(false);
		net.node("a").exchange.tell("f.1", POLL);
		const { called, rides } = net.node("f");
		const about = { kind: "passed", agent: "f.1" } as const;
		called?.down.send({
			...{ ...about, head: "a.1", passed: { kind: "ride", ride: POLL } },
		});
		expect(rides).toEqual([]);
		called?.up.send({
			...{ ...about, head: "b.1", passed: { kind: "ride", ride: AWAY } },
		});
		expect([...net.node("a").rides, ...net.node("b").rides]).toEqual([]);
		expect(exchange.knownFor).toBeUndefined();
		net.round("next", ["b"], ["c", "f"]);
		expect(exchange.askHead(WRITE)).toBe(true);
		expect(exchange.knownFor).toMatchObject({ plan: "next" });
	});

	it("do not end their speaker's connection by what no member says", () => {
		const net = grouped();
		const said = net.said.length;
		for (const kind of ["known", "opened", "closed", "gone"] as const) {
			const about = { kind: "passed", agent: "f.1", head: "a.1" } as const;
			expect(() =>
				net.node("f").called?.up.send({ ...about, passed: { kind } }),
			).toThrow(`a caller cannot say ${kind}`);
		}
		// Nobody has passed it on.
		expect(net.said).toHaveLength(said + 4);
	});

	it("that are of none call the head", () => {
		const net = grouped();
		const { self, exchange } = net.node("spare");
		exchange.follow(self, { planId: "plan", head: agent("a") }, null);
		expect(calleeOf(net, "spare")).toBe("a");
		net.node("a").exchange.tellRound(news(3));
		expect(net.node("spare").news).toEqual([]);
		expect(net.node("b").news).toEqual([news(3)]);
	});

	it("that have left the round call its head, though it has not changed", () => {
		const net = grouped();
		const { self, exchange } = net.node("f");
		const head = agent("a");
		// A seat usually comes before its round.
		const next = { incarnation: "f.1", planId: "next", speakers: [] };
		exchange.follow(self, { planId: "plan", head }, next);
		expect(calleeOf(net, "f")).toBe("c");
		exchange.follow(self, { planId: "other", head }, null);
		expect(calleeOf(net, "f")).toBe("a");
	});

	it.each([
		"c",
		"f",
	])("keep sight of their new head, for which they spoke, and it of them, where %s knows first", (first) => {
		const net = grouped();
		for (const nodeId of [first, "c", "f"]) {
			const { self, exchange } = net.node(nodeId);
			const round = { planId: "next", head: agent("f") };
			exchange.follow(self, round, { ...self, planId: "next" });
		}
		expect(calleeOf(net, "c")).toBe("f");
		net.now = DECIDED_MS;
		for (const [one, nodeId] of [
			["c", "f"],
			["f", "c"],
		] as const) {
			const { suspected } = net.node(one).exchange.state;
			expect(suspected).toContainEqual({ nodeId, why: "silent" });
		}
	});
});

describe("A6 T5 agents of a group are told what is new of the round", () => {
	it("once, and from their call on", () => {
		const net = new Net();
		const told = net.node("c").exchange;
		told.tellRound(news(3));
		net.round("plan", ...GROUPS);
		const { exchange, news: heard } = net.node("f");
		expect(heard).toEqual([news(3)]);
		expect(exchange.isTold).toBe(true);
		told.tellRound(news(3));
		told.tellRound(news(2));
		expect(heard).toHaveLength(1);
		told.tellRound(news(5));
		expect(heard.at(-1)).toEqual(news(5));
		told.tellRound({ revision: 6, entries: [] });
		told.tellRound({ revision: 6, entries: [] });
		expect(heard).toHaveLength(3);
		expect(heard.at(-1)).toEqual({ revision: 6, entries: [] });
		expect(net.node("a").news).toEqual([]);
		expect(net.node("c").exchange.isTold).toBe(false);
	});

	it("also that a key has gone, of which their speaker has read before its watch said so", () => {
		const net = grouped();
		const told = net.node("c").exchange;
		const { news: heard } = net.node("f");
		told.tellRound(news(3));
		told.tellRound({ ...news(3), revision: 11 });
		told.tellRound({ revision: 10, entries: [] });
		expect(heard).toEqual([news(3), { revision: 10, entries: [] }]);
	});

	it("but not what is too long for a link", () => {
		const net = grouped();
		net.node("c").exchange.tellRound(news(3, "x".repeat(60_000)));
		expect(net.node("f").news).toEqual([{ revision: 3, entries: [] }]);
	});

	it.each<[why: string, change: (net: Net) => void]>([
		[
			"it hears of none any more",
			(net) => net.node("c").exchange.tellRound(null),
		],
		["it dies", (net) => net.kill("c")],
		["it leaves", (net) => net.node("c").exchange.leave()],
		[
			"the round has no groups",
			(net) => net.round("next", ["c"], ["d"], ["e"], ["f"]),
		],
	])("until %s", (_, change) => {
		const net = grouped();
		net.node("c").exchange.tellRound(news(3));
		const { exchange, news: heard } = net.node("f");
		expect(exchange.isTold).toBe(true);
		change(net);
		expect(exchange.isTold).toBe(false);
		expect(heard.at(-1)).toBeNull();
	});

	it("not while the head of their own group is silent", () => {
		const net = grouped();
		net.node("a").exchange.tellRound(news(3));
		const { exchange, news: heard } = net.node("b");
		net.now = DECIDED_MS / 4 + 1;
		exchange.look();
		expect(exchange.isTold).toBe(false);
		expect(heard).toEqual([news(3), null]);
		expect(calleeOf(net, "b")).toBe("a");
		net.node("a").exchange.tellRound(news(4));
		expect(exchange.isTold).toBe(true);
	});

	it("in no circle", () => {
		const net = new Net();
		const [c, d] = [net.node("c"), net.node("d")];
		const follow = ({ self, exchange }: Node, speaker: string) =>
			exchange.follow(
				self,
				{ planId: "plan", head: agent("a") },
				{ ...self, planId: "plan", speakers: [agent(speaker)] },
			);
		follow(c, "d");
		follow(d, "c");
		expect(["c", "d"].map((id) => calleeOf(net, id))).toEqual(["d", "a"]);
		d.exchange.tellRound(news(3));
		expect(c.news).toEqual([news(3)]);
	});
});
