import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/base/clock.js";
import { Connection } from "../../../src/links/connection.js";
import { FrameReader, frame } from "../../../src/links/frames.js";
import { introduce } from "../../../src/links/handshake.js";
import { Links, type LinksOptions } from "../../../src/links/index.js";
import type { LinkAddress, LinkedAgent } from "../../../src/model/index.js";
import { freePort } from "../../helpers/free-port.js";
import { waitFor } from "../../helpers/processes.js";
import { startProxy } from "../../helpers/tcp-proxy.js";
import { onTestFinished } from "../../helpers/this-test.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

/** Of all agents of a test. */
let dead: LinkedAgent[];
let said: string[];

beforeEach(() => {
	dead = [];
	said = [];
});

interface Node {
	readonly links: Links;
	readonly self: LinkedAgent & { readonly link: LinkAddress };
	/** What its guard was given last. */
	voice: { readonly socket: Socket; readonly word: string } | undefined;
}

async function node(
	nodeId: string,
	options: Partial<LinksOptions> = {},
): Promise<Node> {
	const say = (message: string) => void said.push(message);
	const links = await Links.open({
		clock: systemClock,
		random: () => 0,
		log: { debug: say, info: say, warn: say },
		port: 0,
		decidedMs: 60_000,
		onDead: (who) => dead.push(who),
		...options,
	});
	const link = links.addressAt("127.0.0.1");
	const self = { nodeId, incarnation: `${nodeId}.1`, link };
	const made: Node = { links, self, voice: undefined };
	links.guardBy({
		speakThrough: (line) => {
			made.voice = line;
		},
	});
	onTestFinished(() => links.close());
	return made;
}

/** Sees a round, of which it is a member of no group unless it has speakers. */
function follow(
	{ links, self }: Pick<Node, "links" | "self">,
	head: LinkedAgent | undefined,
	...speakers: readonly LinkedAgent[]
): void {
	const { incarnation } = self;
	const place = { incarnation, planId: "plan", speakers };
	links.follow(self, { planId: "plan", head }, place);
}

/** The first coordinates. */
async function linked(...nodeIds: readonly string[]): Promise<readonly Node[]> {
	const nodes = await Promise.all(nodeIds.map((nodeId) => node(nodeId)));
	const [root] = nodes;
	for (const one of nodes) follow(one, root?.self);
	await waitFor("all links", () => nodes.every(({ voice }) => voice));
	return nodes;
}

/** Two, between whom a proxy is. */
async function linkedThroughProxy(options: Partial<LinksOptions> = {}) {
	const root = await node("a", options);
	const other = await node("b", options);
	const way = await startProxy(`127.0.0.1:${root.self.link.port}`);
	const port = Number(way.endpoint.split(":")[1]);
	const self = { ...root.self, link: { ...root.self.link, port } };
	follow(root, root.self);
	follow(other, self);
	await waitFor("a link", () => hears(root)[0] && other.voice);
	return { root, other, way };
}

function warnings() {
	const warned: string[] = [];
	const warn = (message: string) => void warned.push(message);
	return { warned, log: { debug: () => {}, info: () => {}, warn } };
}

const suspects = ({ links }: Node) =>
	links.now().suspected.map(({ nodeId, why }) => `${nodeId} ${why}`);
const hears = (node: Node | undefined) => node?.links.now().heard ?? [];

/** Calls as a stranger; what it is told, until it is left. */
async function stranger(
	{ self }: Node,
	answer: (challenge: unknown) => string | undefined = () => undefined,
): Promise<readonly unknown[]> {
	const socket = connect(self.link.port, "127.0.0.1");
	const reader = new FrameReader();
	const told: unknown[] = [];
	socket.on("error", () => {});
	socket.on("data", (bytes) => {
		for (const value of reader.push(bytes)) {
			if (told.push(value) === 1) socket.write(answer(value) ?? "");
		}
	});
	await once(socket, "close");
	return told;
}

/** Calls as an agent that may have the wrong secret; why it was left. */
function caller(
	{ self }: Node,
	change: { secret?: string; purpose?: "agent" | "guard" } = {},
	onWelcome: (connection: Connection) => void = () => {},
): Promise<string> {
	const { secret, port } = self.link;
	const link = { address: "", port, secret: change.secret ?? secret };
	return new Promise((resolve) => {
		const socket = connect(port, "127.0.0.1");
		const connection = new Connection(socket, resolve);
		const me = { nodeId: "x", incarnation: "x.1" };
		const purpose = change.purpose ?? "agent";
		introduce(connection, systemClock, link, me, purpose, () =>
			onWelcome(connection),
		);
	});
}

describe("A9 linked agents", () => {
	it("hear each other, and the coordinator's guard speaks to the first that came", async () => {
		const [root, ...others] = await linked("a", "b", "c");
		expect([...hears(root)].sort()).toEqual(["b", "c"]);
		expect(others.map(hears)).toEqual([["a"], ["a"]]);
		root?.voice?.socket.write(root.voice.word);
		await waitFor("the word", () => dead.length > 0);
		expect(dead).toEqual([{ nodeId: "a", incarnation: "a.1" }]);
	});

	it("call who has called them before, and has hung up since", async () => {
		const nodes = await linked("a", "b", "c");
		for (const head of [...nodes.slice(1), nodes[0]]) {
			for (const one of nodes) follow(one, head?.self);
			await waitFor("all links", () => hears(head).length === 2);
		}
	});

	it("A6 of a large round hear the head by a speaker, and by the next one once that has left", async () => {
		const nodes = await Promise.all(["a", "c", "d", "e"].map((id) => node(id)));
		const [root, first, second, last] = nodes;
		if (!root || !first || !second || !last) throw new Error("no node");
		follow(root, root.self);
		follow(first, root.self);
		follow(second, root.self, first.self);
		follow(last, root.self, first.self, second.self);
		root.links.exchange.begin("plan");
		const hearsRoot = ({ links }: Node) =>
			links.exchange.knownFor?.plan === "plan";
		await waitFor("the head's word", () => nodes.slice(1).every(hearsRoot));
		expect([...hears(root)].sort()).toEqual(["c", "d", "e"]);
		expect([hears(last), hears(second)]).toEqual([["c"], ["c"]]);
		const rides: unknown[] = [];
		last.links.exchange.listen((...said) => void rides.push(said));
		const poll = { kind: "poll", plan: "plan", poll: 1 } as const;
		root.links.exchange.tell("e.1", poll);
		await waitFor("a poll", () => rides.length > 0);
		expect(rides).toEqual([["a.1", poll]]);
		last.voice?.socket.write(last.voice.word);
		await waitFor("a guard's word", () => dead.length > 0);
		await waitFor(
			"that it is forgotten",
			() => !root.links.exchange.known.has("e.1"),
		);
		first.links.close();
		await waitFor("the next speaker", () => hears(second).includes("e"));
		await waitFor("it at the head", () => root.links.exchange.known.has("e.1"));
		expect([...hears(root)].sort()).toEqual(["d", "e"]);
	});

	it("suspect nobody who leaves in order, and call nobody then", async () => {
		const [root, leaver] = await linked("a", "b");
		leaver?.links.close();
		await waitFor("it to be gone", () => hears(root).length === 0);
		expect(root?.links.now()).toEqual({ heard: [], suspected: [] });
		// A process without anything open ends: so nothing that it called may be left.
		root?.links.close();
		await waitFor("closed sockets", () => root?.voice?.socket.destroyed);
		expect(leaver?.voice?.socket.destroyed).toBe(true);
		expect(said.filter((line) => /again/.test(line))).toEqual([]);
	});

	it("suspect who has closed without a word, until it calls again", async () => {
		const { root, other, way } = await linkedThroughProxy();
		const before = other.voice?.socket;
		way.cut();
		await waitFor("a suspicion", () => suspects(root).length === 1);
		expect(suspects(root)).toEqual(["b closed"]);
		expect(suspects(other)).toEqual(["a closed"]);
		await way.resume();
		await waitFor("both heard", () => hears(root)[0] && hears(other)[0]);
		expect(suspects(root)).toEqual([]);
		// The guard holds a connection of before, and needs another one.
		await waitFor("a new voice", () => other.voice?.socket !== before);
	});

	it("suspect who is silent, and call again where a connection is dead", async () => {
		const { root, other, way } = await linkedThroughProxy({ decidedMs: 1_000 });
		way.stallOld();
		await waitFor("a suspicion", () => suspects(other).length === 1);
		expect(suspects(other)).toEqual(["a silent"]);
		await waitFor("both heard", () => hears(root)[0] && hears(other)[0]);
	});

	it("blame nobody for the time in which they stood still", async () => {
		const [head, speaker] = await linked("a", "b");
		const clock = new VirtualClock();
		const member = await node("c", { clock });
		if (!head || !speaker) throw new Error("no node");
		follow(member, head.self, speaker.self);
		await waitFor("the speaker", () => hears(member).includes("b"));
		clock.standStill(30_000);
		expect(hears(member)).toEqual(["b"]);
		expect(suspects(member)).toEqual([]);
	});

	it("stay known to the head until they leave the run, also if another one has the same node id", async () => {
		const [head, first, third] = await linked("a", "b", "c");
		const second = await node("b");
		if (!head || !first || !third) throw new Error("no node");
		follow(third, undefined);
		await waitFor("a farewell", () => !hears(head).includes("c"));
		expect(head.links.exchange.known.has("c.1")).toBe(true);
		head.links.exchange.begin("plan");
		follow(
			{ ...second, self: { ...second.self, incarnation: "b.2" } },
			head.self,
		);
		await waitFor("b.2", () => head.links.exchange.known.has("b.2"));
		await waitFor("its head", () => hears(second).includes("a"));
		await waitFor(
			"a plan",
			() => first.links.exchange.knownFor?.plan === "plan",
		);
		for (const b of ["b.1", "b.2"])
			expect(head.links.exchange.known).toContain(b);
		second.links.close();
		await waitFor("a farewell", () => !head.links.exchange.known.has("b.2"));
		follow(first, undefined);
		expect(first.links.exchange.knownFor).toBeUndefined();
	});

	it("tell once which port is blocked, and what helps", async () => {
		const clock = new VirtualClock();
		const { log, warned } = warnings();
		const link = { address: "::1", port: await freePort(), secret: "00" };
		const other = await node("b", { clock, log, decidedMs: 1_000 });
		follow(other, { nodeId: "a", incarnation: "a.1", link });
		await waitFor("the warning", () => {
			void clock.advance(1_000);
			return warned.length > 0;
		});
		await clock.advance(60_000);
		// The next process of a node listens where the one before it did.
		const next = await node("c");
		const before = { ...next.self.link, secret: "00" };
		follow(other, { nodeId: "c", incarnation: "c.0", link: before });
		const until = clock.now() + 30_000;
		await waitFor("late refusals", () => {
			void clock.advance(1_000);
			return clock.now() > until && said.length > 2;
		});
		expect(warned).toEqual([
			expect.stringMatching(
				/^a cannot be called at \[::1\]:\d+ \(.+\)\. .*link_port=PORT.* --links off: /,
			),
		]);
	});

	it("believe a guard's word, and only what its agent gave it", async () => {
		const [, other] = await linked("a", "b");
		const { socket, word = "" } = other?.voice ?? {};
		socket?.write(frame({ kind: "gone" }));
		socket?.write(frame({ kind: "gone", proof: "0".repeat(64) }));
		socket?.write(word);
		await waitFor("the word", () => dead.length > 0);
		expect(dead).toEqual([{ nodeId: "b", incarnation: "b.1" }]);
	});

	it("A6 ask the head to write their records, and learn what became of it from it alone", async () => {
		const [root, other] = await linked("a", "b");
		const write = { number: 1, round: 5, present: 6, lease: "7", value: "{}" };
		const learned: unknown[] = [];
		const asked: unknown[] = [];
		root?.links.exchange.onRecords(
			(from, what) => void asked.push([from, what]),
			(written) => void learned.push(written),
		);
		other?.links.exchange.onRecords(
			() => {},
			(written) => void learned.push(written),
		);
		expect(root?.links.exchange.askHead(write)).toBe(false);
		expect(other?.links.exchange.askHead(write)).toBe(true);
		await waitFor("it to be asked", () => asked.length > 0);
		expect(asked).toMatchObject([[other?.self, write]]);
		root?.links.exchange.answer("b.1", { number: 1, revision: 9 });
		await waitFor("the answer", () => learned.length > 0);
		if (root === undefined) throw new Error("there is no head");
		await caller(root, {}, (connection) => {
			const written = { number: 1, revision: 10 };
			connection.send({ kind: "written", written });
			connection.send({ kind: "write", write });
		});
		expect(asked).toHaveLength(1);
		expect(learned).toEqual([{ number: 1, revision: 9 }]);
		const late = await node("c");
		follow(late, root.self);
		expect(late.links.exchange.askHead(write)).toBe(false);
		root.links.close();
		await waitFor("the end", () => learned.length > 1);
		expect(learned[1]).toBeUndefined();
	});

	it("show nobody their secrets, and believe nobody who does not know them", async () => {
		const other = await node("b");
		const secret = "cd".repeat(16);
		let sent = "";
		let hungUp = 0;
		const server = createServer((socket) => {
			socket
				.on("close", () => hungUp++)
				.on("data", (bytes) => {
					sent += bytes;
					socket.write(frame({ kind: "welcome", proof: "0".repeat(64) }));
				});
			const nonce = "ef".repeat(16);
			socket.write(frame({ kind: "challenge", version: 3, nonce }));
		}).listen(0, "127.0.0.1");
		onTestFinished(() => void server.close());
		await once(server, "listening");
		const { port } = server.address() as AddressInfo;
		const link = { address: "127.0.0.1", port, secret };
		follow(other, { nodeId: "a", incarnation: "a.1", link });
		await waitFor("it to hang up", () => hungUp > 0);
		expect(sent).toContain('"proof"');
		expect([hears(other), other.voice]).toEqual([[], undefined]);
		expect(sent).not.toContain(secret);
		expect(sent).not.toContain(other.self.link.secret);
	});
});

describe("A9 a caller", () => {
	it("without the run's secret is told why it is not heard", async () => {
		const root = await node("a");
		const why = await caller(root, { secret: "ab".repeat(16) });
		expect(why).toBe("it refuses: it does not know this run's secret");
	});

	it("of another version is told so", async () => {
		const root = await node("a");
		const hello = frame({ kind: "hello", version: 1 });
		expect(await stranger(root, () => hello)).toEqual([
			expect.objectContaining({ kind: "challenge", version: 3 }),
			{ kind: "refused", reason: expect.stringContaining("version must be 3") },
		]);
	});

	it.each([
		"gone",
		"challenge",
		"nothing known",
	])("that is no guard and says %s is left", async (kind) => {
		const root = await node("a");
		await caller(root, {}, (connection) => connection.send({ kind }));
		expect(dead).toEqual([]);
	});

	it("that sends what is no message is left", async () => {
		const root = await node("a");
		const told = await stranger(root, () => "GET / HTTP/1.1\r\n\r\n");
		expect(told).toHaveLength(1);
	});

	it("that says nothing is left, and so many keep nobody out for long", async () => {
		const clock = new VirtualClock();
		const root = await node("a", { clock });
		const silent = Array.from({ length: 300 }, () => stranger(root));
		expect(await Promise.race(silent)).toEqual([]);
		let left = 0;
		for (const one of silent) void one.then(() => left++);
		await waitFor("all to be left", () => {
			void clock.advance(1_000);
			return left === silent.length;
		});
		expect(hears(root)).toEqual([]);
		const other = await node("b");
		follow(other, root.self);
		await waitFor("a link", () => hears(root).length === 1);
	});
});
