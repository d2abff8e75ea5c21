import { describe, expect, it } from "vitest";
import type { RideMessage } from "../../../src/model/index.js";
import { Ride } from "../../../src/rendezvous/member/ride.js";
import { roundRecord, seatRecord } from "../../helpers/run-view.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

const TTL_MS = 5_000;
/** The store counts as away after so long; the head then asks so often. */
const AWAY_MS = 0.4 * TTL_MS + 1;
const ASKS_MS = 0.05 * TTL_MS;
/** How long a permission lasts from an agent's answer on, and its promise. */
const PERMITTED_MS = 3 * TTL_MS;
const PROMISED_MS = 3.5 * TTL_MS;
const NEVER = Number.NEGATIVE_INFINITY;
const PLAN = "plan-1";

/** A clock of a machine that may sleep. */
class SleepyClock extends VirtualClock {
	sleptMs = 0;

	override asleep(): number {
		return this.sleptMs;
	}
}

interface Given {
	readonly seats?: number;
	readonly rideOutMs?: number;
	readonly ridesAlone?: boolean;
	/** Of its own lease. */
	readonly ttlMs?: number;
	readonly answeredInMs?: number;
	/** The agents that the head knows. */
	readonly known?: readonly string[];
}

/** One agent with links that keep what it says; node a's is the head. */
class Agent {
	readonly clock = new SleepyClock();
	readonly said: (RideMessage & { readonly to: string })[] = [];
	readonly begun: string[] = [];
	readonly words: string[] = [];
	readonly links;
	readonly ride: Ride;
	releases = 0;
	private heardStoreAt = this.clock.now();
	private hearing: (from: string, message: RideMessage) => void = () => {};

	constructor(
		readonly nodeId: string,
		readonly given: Given = {},
	) {
		const { ttlMs = TTL_MS } = given;
		const keep = (to: string, message: RideMessage) =>
			void this.said.push({ to, ...message });
		this.links = {
			tellHead: (message: RideMessage) => keep("head", message),
			tell: keep,
			begin: (plan: string) => void this.begun.push(plan),
			known: new Set(given.known),
			knownFor: { plan: PLAN, since: this.clock.now() },
			listen: (hear: typeof this.hearing) => {
				this.hearing = hear;
			},
		};
		this.ride = new Ride({
			clock: this.clock,
			links: this.links,
			incarnation: `${nodeId}-1`,
			leaseTtlMs: TTL_MS,
			lease: () => ({
				expiresAt: this.heardStoreAt + ttlMs - this.clock.sleptMs,
				ttlMs,
				answeredInMs: given.answeredInMs ?? 5,
			}),
			rideOutMs: given.rideOutMs ?? 600_000,
			ridesAlone: given.ridesAlone ?? false,
			onReleased: () => {
				this.releases += 1;
			},
			tell: (words) => void this.words.push(words),
		});
		this.see(PLAN);
	}

	see(planId: string, roundRevision = 50, deprecated = 0): void {
		const { nodeId, given } = this;
		const head = { nodeId: "a", incarnation: "a-1" };
		const { seats = 2 } = given;
		const round = roundRecord({
			...{ synced: 1, deprecated, planId, seats, head },
		});
		const seat = nodeId === "c" ? null : seatRecord(nodeId, { planId });
		this.ride.see({ round, seat }, roundRevision);
		this.ride.look();
	}

	/** The store answers again. */
	keepAlive(): void {
		this.heardStoreAt = this.clock.now() + this.clock.sleptMs;
		this.ride.look();
	}

	hear(kind: RideMessage["kind"], poll: number, more: Heard = {}): void {
		const { from = "a-1", ...rest } = more;
		this.hearing(from, { kind, poll, plan: PLAN, ...rest });
	}

	/** All agents but the head say so of the poll that was asked last. */
	hearAll(kind: "away" | "back"): void {
		for (const from of this.links.known) {
			this.hear(kind, this.asked, { from, isMember: from !== "c-1" });
		}
	}

	/** The poll that it asked last. */
	get asked(): number {
		return this.said.findLast(({ kind }) => kind === "poll")?.poll ?? 0;
	}

	/** Whom it has told so. */
	toldBy(kind: RideMessage["kind"]): readonly string[] {
		return this.said.filter((one) => one.kind === kind).map(({ to }) => to);
	}

	get mayRide(): boolean {
		return this.ride.reliableUntil > this.clock.now();
	}
}

type Heard = Partial<Omit<RideMessage, "kind" | "poll">> & {
	readonly from?: string;
};

/** For which the store has been away long enough. */
function without(nodeId: string, given?: Given): Agent {
	const agent = new Agent(nodeId, given);
	agent.clock.pass(AWAY_MS);
	return agent;
}

const headOf = (given: Given = {}) =>
	without("a", { known: ["b-1", "c-1"], ...given });

describe("the head of a round", () => {
	it("begins with its plan, and asks nothing while the store is there", () => {
		const head = new Agent("a", { known: ["b-1"] });
		head.clock.pass(AWAY_MS - 1);
		expect(head.begun).toEqual([PLAN]);
		expect(head.said).toEqual([]);
	});

	it("asks all that it knows, again and again", () => {
		const head = headOf();
		head.clock.pass(ASKS_MS);
		expect(head.toldBy("poll")).toEqual(["b-1", "c-1", "b-1", "c-1"]);
		head.ride.close();
		head.clock.pass(TTL_MS);
		expect(head.asked).toBe(2);
	});

	it("tells how long its round has gone on, and who is heard", () => {
		const head = headOf();
		for (let asked = 0; asked < 12; asked++) {
			head.hearAll("away");
			head.clock.pass(ASKS_MS);
		}
		const forMs = AWAY_MS + 12 * ASKS_MS;
		expect(head.ride.riding).toEqual({ forMs, nodes: 2, heard: 2 });
		head.clock.pass(TTL_MS / 2 + 1);
		expect(head.ride.riding).toMatchObject({ nodes: 2, heard: 1 });
		head.clock.pass(PERMITTED_MS);
		expect(head.ride.riding).toBeUndefined();
		head.hearAll("away");
		head.clock.pass(ASKS_MS);
		expect(head.ride.riding).toMatchObject({ heard: 2 });
		head.keepAlive();
		expect(head.ride.riding).toBeUndefined();
	});

	const B = { from: "b-1", isMember: true };
	const C = { from: "c-1", isMember: false };
	it.each<[string, boolean, (head: Agent) => void, Given?]>([
		["all say that it is away", true, (head) => head.hearAll("away")],
		["a member is silent", false, (head) => head.hear("away", 1, C)],
		["another agent is silent", false, (head) => head.hear("away", 1, B)],
		[
			"a member has the store",
			false,
			(head) => {
				head.hear("back", 1, B);
				head.hear("away", 1, C);
			},
		],
		[
			"another agent has the store",
			false,
			(head) => {
				head.hear("back", 1, C);
				head.hear("away", 1, B);
			},
		],
		[
			"another agent has left",
			true,
			(head) => {
				head.links.known.delete("c-1");
				head.hear("away", 1, B);
			},
		],
		[
			"a member has no link",
			false,
			(head) => head.hearAll("away"),
			{ seats: 3 },
		],
		[
			"an older answer comes after a newer one",
			false,
			(head) => {
				head.clock.pass(ASKS_MS);
				head.hear("back", 2, B);
				head.hear("away", 1, B);
				head.hear("away", 2, C);
			},
		],
		[
			"an answer is half a lease old",
			true,
			(head) => {
				head.hear("away", 1, B);
				head.clock.pass(TTL_MS / 2 - ASKS_MS);
				head.hear("away", head.asked, C);
			},
		],
		[
			"an answer is older than that",
			false,
			(head) => {
				head.hear("away", 1, B);
				head.clock.pass(TTL_MS / 2);
				head.hear("away", head.asked, C);
			},
		],
		[
			"it has the store again before it asks again",
			false,
			(head) => {
				head.hearAll("away");
				head.keepAlive();
			},
		],
		[
			"it does not know what became of its own plan",
			false,
			(head) => {
				head.hearAll("away");
				head.ride.writing(50);
			},
		],
		[
			"the machine has slept since an answer",
			false,
			(head) => {
				head.hear("away", 1, B);
				head.clock.sleptMs = TTL_MS;
				head.hear("away", 1, C);
			},
		],
		[
			"it is the only member",
			false,
			(head) => head.hear("away", 1, C),
			{ seats: 1, known: ["c-1"] },
		],
		[
			"no other node takes part in the run",
			true,
			(head) => head.hear("away", 1, C),
			{ seats: 1, known: ["c-1"], ridesAlone: true },
		],
		[
			"no other node takes part in it, and one waits that is silent",
			false,
			() => {},
			{ seats: 1, known: ["c-1"], ridesAlone: true },
		],
	])("where %s: the round goes on: %s", (_, goesOn, act, given) => {
		const head = headOf(given);
		act(head);
		head.clock.pass(ASKS_MS);
		expect(head.mayRide).toBe(goesOn);
		const others = [...head.links.known];
		expect(head.toldBy("ride")).toEqual(goesOn ? others : []);
		const until = head.clock.now() + PERMITTED_MS;
		expect(head.ride.promisedUntil).toBe(goesOn ? until : NEVER);
	});

	it("says which of their answers it permits", () => {
		const head = headOf();
		head.hear("away", 1, B);
		head.clock.pass(ASKS_MS);
		head.hear("away", 2, C);
		expect(head.toldBy("ride")).toEqual([]);
		head.clock.pass(ASKS_MS);
		const ride = { kind: "ride", plan: PLAN };
		expect(head.said).toContainEqual({ ...ride, to: "b-1", poll: 1 });
		expect(head.said).toContainEqual({ ...ride, to: "c-1", poll: 2 });
	});

	it("permits each once a poll, however many answer it", () => {
		const head = headOf();
		for (let polls = 0; polls < 3; polls++) {
			head.hearAll("away");
			head.clock.pass(ASKS_MS);
		}
		expect(head.toldBy("ride")).toHaveLength(3 * head.links.known.size);
	});

	it("plans again once all are back, and tells them", () => {
		const head = headOf();
		head.hearAll("away");
		head.clock.pass(ASKS_MS);
		head.keepAlive();
		head.clock.pass(ASKS_MS);
		head.hear("back", 3, B);
		expect(head.toldBy("over")).toEqual([]);
		expect(head.ride.promisedUntil).toBeGreaterThan(head.clock.now());
		head.hear("back", 3, C);
		expect(head.toldBy("over")).toEqual(["b-1", "c-1"]);
		expect(head.ride.promisedUntil).toBe(NEVER);
		expect(head.releases).toBe(1);
	});

	it("does not wait for a member of which nothing is left", () => {
		const head = headOf();
		head.hearAll("away");
		head.clock.pass(ASKS_MS);
		head.keepAlive();
		head.clock.pass(ASKS_MS);
		head.links.known.delete("b-1");
		head.hear("back", 3, C);
		expect(head.toldBy("over")).toEqual(["c-1"]);
		expect(head.ride.promisedUntil).toBe(NEVER);
	});

	it("plans again once what it permitted last is over, its machine's sleep in it", () => {
		const head = headOf();
		head.hearAll("away");
		// Each poll permits more, until the others' answers are half a lease old.
		const until = head.clock.now() + TTL_MS / 2 + PERMITTED_MS;
		head.clock.pass(TTL_MS);
		expect(head.ride.promisedUntil).toBe(until);
		head.clock.sleptMs = 1_000;
		expect(head.ride.promisedUntil).toBe(until - 1_000);
	});

	it("frees who is back at once where nothing is permitted", () => {
		const head = headOf();
		head.hear("back", 1, B);
		expect(head.toldBy("over")).toEqual(["b-1"]);
	});

	it("asks while something is permitted, until all are back", () => {
		const head = headOf({ known: ["b-1"] });
		head.hear("away", 1, B);
		head.clock.pass(ASKS_MS);
		head.hear("back", 2, B);
		head.clock.pass(TTL_MS / 2 + ASKS_MS);
		head.keepAlive();
		const { asked } = head;
		head.clock.pass(4 * ASKS_MS);
		expect(head.asked).toBe(asked + 4);
		head.hear("back", head.asked, B);
		head.clock.pass(4 * ASKS_MS);
		expect(head.asked).toBe(asked + 4);
	});

	it("permits nothing of a new plan by answers for the old one", () => {
		const head = headOf({ known: ["b-1"] });
		head.hear("away", 1, B);
		head.see("plan-2", 51);
		head.clock.pass(2 * ASKS_MS);
		expect(head.toldBy("ride")).toEqual([]);
		expect(head.begun).toEqual([PLAN, "plan-2"]);
	});

	it("asks as soon after its machine has slept", () => {
		const head = new Agent("a", { known: ["b-1"] });
		head.clock.sleptMs = TTL_MS;
		head.keepAlive();
		head.clock.pass(AWAY_MS);
		expect(head.toldBy("poll")).toEqual(["b-1"]);
	});

	it("asks a little later where its clocks differ by a little", () => {
		const head = new Agent("a", { known: ["b-1"] });
		head.clock.sleptMs = 10;
		head.keepAlive();
		head.clock.sleptMs = 0;
		head.clock.pass(AWAY_MS);
		expect(head.toldBy("poll")).toEqual([]);
		head.clock.pass(10);
		expect(head.toldBy("poll")).toEqual(["b-1"]);
	});

	it("asks until nobody's promise is left", () => {
		const head = headOf();
		head.hear("away", 1, B);
		for (let passed = 0; passed < PROMISED_MS; passed += ASKS_MS) {
			head.keepAlive();
			head.clock.pass(ASKS_MS);
		}
		const { asked } = head;
		expect(asked).toBe(71);
		head.keepAlive();
		head.clock.pass(2 * ASKS_MS);
		expect(head.asked).toBe(asked);
	});
});

describe("an agent that is not the head", () => {
	it.each([
		["b", true],
		["c", false],
	])("says whether it is a member: %s, %s", (nodeId, isMember) => {
		const agent = without(nodeId);
		agent.hear("poll", 1);
		const answer = { kind: "away", plan: PLAN, poll: 1, isMember };
		expect(agent.said).toEqual([{ to: "head", ...answer }]);
	});

	it("says that the store is there, and promises nothing", () => {
		const agent = new Agent("b");
		agent.hear("poll", 1);
		expect(agent.toldBy("back")).toEqual(["head"]);
		expect(agent.ride.promisedUntil).toBe(NEVER);
	});

	it.each<[string, Given?]>([
		["sleeps before it has the store again"],
		["is slow", { ttlMs: 2 * TTL_MS, answeredInMs: AWAY_MS / 3 }],
	])("says that the store is there for as long where it %s", (_, given) => {
		const agent = new Agent("b", given);
		agent.clock.sleptMs = given === undefined ? TTL_MS : 0;
		agent.keepAlive();
		agent.clock.pass(given === undefined ? AWAY_MS - 1 : AWAY_MS);
		agent.hear("poll", 1);
		expect(agent.toldBy("back")).toEqual(["head"]);
	});

	it("says that it is away as soon as others where its own lease lives longer", () => {
		const agent = new Agent("b", { ttlMs: 4 * TTL_MS });
		agent.clock.pass(AWAY_MS);
		agent.hear("poll", 1);
		expect(agent.toldBy("away")).toEqual(["head"]);
	});

	it("says nothing of a round that was left", () => {
		const agent = without("b");
		agent.see(PLAN, 51, 1);
		agent.hear("poll", 1);
		expect(agent.said).toEqual([]);
	});

	it("answers the first poll of a new plan", () => {
		const agent = without("b");
		agent.hear("poll", 1);
		agent.see("plan-2", 51);
		agent.hear("poll", 1, { plan: "plan-2" });
		expect(agent.said.map(({ plan }) => plan)).toEqual([PLAN, "plan-2"]);
	});

	it("says nothing to others", () => {
		const agent = without("b");
		agent.hear("back", 1, { from: "c-1" });
		expect(agent.said).toEqual([]);
	});

	it("counts its machine's sleep as time without the store", () => {
		const agent = new Agent("b");
		agent.clock.sleptMs = AWAY_MS;
		agent.hear("poll", 1);
		expect(agent.toldBy("away")).toEqual(["head"]);
	});

	it("answers a poll that it hears twice once", () => {
		const agent = without("b");
		for (const poll of [1, 2, 2, 1]) agent.hear("poll", poll);
		expect(agent.said.map(({ poll }) => poll)).toEqual([1, 2]);
	});

	it.each<[string, (agent: Agent) => void]>([
		["until it is refused", (agent) => agent.ride.refused()],
		["until there is another round", (agent) => agent.see(PLAN, 51)],
	])("says nothing while it does not know what became of its plan, %s", (_, learn) => {
		const agent = without("b");
		agent.ride.writing(50);
		for (const revision of [50, 49]) agent.see(PLAN, revision);
		agent.hear("poll", 1);
		expect(agent.said).toEqual([]);
		expect(agent.ride.promisedUntil).toBe(NEVER);
		learn(agent);
		agent.hear("poll", 2);
		expect(agent.toldBy("away")).toEqual(["head"]);
	});

	it("does not confirm the round, nor promise anything, once it leaves", () => {
		const agent = without("b");
		agent.ride.leave();
		agent.hear("poll", 1);
		expect(agent.said).toEqual([]);
		expect(agent.ride.promisedUntil).toBe(NEVER);
		agent.keepAlive();
		agent.hear("poll", 2);
		expect(agent.toldBy("back")).toEqual(["head"]);
	});

	it.each<[string, Parameters<Agent["hear"]>]>([
		["another poll", ["ride", 2]],
		["another plan", ["ride", 1, { plan: "plan-2" }]],
		["who is not the head", ["ride", 1, { from: "c-1" }]],
	])("takes no permission of %s", (_, heard) => {
		const agent = without("b");
		agent.hear("poll", 1);
		agent.hear(...heard);
		expect(agent.ride.reliableUntil).toBe(NEVER);
	});
});

describe("a permission", () => {
	const permitted = (given?: Given) => {
		const agent = without("b", given);
		const answeredAt = agent.clock.now();
		agent.hear("poll", 1);
		agent.clock.pass(TTL_MS / 2);
		agent.hear("ride", 1);
		return { agent, answeredAt };
	};

	it("shows all as heard, and after half a lease without another one the agent alone", () => {
		const { agent } = permitted({ seats: 3 });
		expect(agent.ride.riding).toMatchObject({ nodes: 3, heard: 3 });
		agent.clock.pass(1);
		expect(agent.ride.riding).toMatchObject({ nodes: 3, heard: 1 });
	});

	it("lasts three leases from the agent's own answer on", () => {
		const { agent, answeredAt } = permitted();
		expect(agent.ride.reliableUntil).toBe(answeredAt + PERMITTED_MS);
	});

	it("never lasts longer than a round rides", () => {
		const { agent, answeredAt } = permitted({ rideOutMs: 6_000 });
		expect(agent.ride.reliableUntil).toBe(answeredAt - AWAY_MS + 6_000);
	});

	it("ends the sooner for its machine's sleep", () => {
		const { agent, answeredAt } = permitted();
		agent.clock.sleptMs = 1_000;
		expect(agent.ride.reliableUntil).toBe(answeredAt + PERMITTED_MS - 1_000);
	});

	it.each<[string, (agent: Agent) => void]>([
		[
			"when the agent says that it has the store",
			(agent) => {
				agent.keepAlive();
				agent.hear("poll", 2);
			},
		],
		["with another plan", (agent) => agent.see("plan-2", 51)],
	])("ends %s", (_, act) => {
		const { agent } = permitted();
		act(agent);
		expect(agent.ride.reliableUntil).toBe(NEVER);
	});

	it("is none while the agent has the store", () => {
		const agent = without("b");
		agent.hear("poll", 1);
		agent.keepAlive();
		agent.hear("ride", 1);
		expect(agent.ride.reliableUntil).toBe(NEVER);
	});

	it("is not shortened by one that comes late, nor told where that is over", () => {
		const agent = without("b");
		agent.hear("poll", 1);
		agent.clock.pass(ASKS_MS);
		agent.hear("poll", 2);
		agent.hear("ride", 2);
		agent.hear("ride", 1);
		const until = agent.clock.now() + PERMITTED_MS;
		expect(agent.ride.reliableUntil).toBe(until);
		agent.clock.pass(PERMITTED_MS);
		agent.hear("ride", 1);
		expect(agent.words).toEqual([]);
	});

	it("of an answer before the agent had the store again is none", () => {
		const agent = without("b");
		agent.hear("poll", 1);
		agent.keepAlive();
		agent.hear("poll", 2);
		agent.clock.pass(AWAY_MS);
		agent.hear("ride", 1);
		expect(agent.ride.reliableUntil).toBe(NEVER);
	});

	it("is told when the store has been away for longer, and so is its end", () => {
		const agent = without("b");
		agent.hear("poll", 1);
		agent.hear("ride", 1);
		expect(agent.words).toEqual([]);
		agent.clock.pass(TTL_MS / 2);
		for (const poll of [2, 3]) {
			agent.hear("poll", poll);
			agent.hear("ride", poll);
		}
		agent.keepAlive();
		agent.ride.look();
		expect(agent.words).toEqual([
			"the store is away: all 2 nodes of round 1 confirm it, so its workers run on, for 10 min 0 s at most",
			"the store is back after 4.5 s: the round goes on",
		]);
	});

	it.each([
		[600_000, "and not all nodes of round 1 confirm it any more"],
		[5_000, "has been away for as long as a round goes on without it"],
	])("says why it ends where it may last %j ms, and neither goes on nor is told then", (rideOutMs, words) => {
		const agent = without("b", { rideOutMs });
		const ride = (poll: number) => {
			agent.hear("poll", poll);
			agent.hear("ride", poll);
		};
		agent.clock.pass(TTL_MS / 2);
		ride(1);
		expect(agent.ride.end()).toContain(words);
		ride(2);
		agent.keepAlive();
		expect(agent.words).toHaveLength(1);
		const late = without("b");
		late.clock.pass(TTL_MS / 2);
		expect(late.ride.end()).toBeUndefined();
		late.hear("poll", 1);
		late.hear("ride", 1);
		expect(late.words).toEqual([]);
	});
});

describe("a promise to plan nothing", () => {
	const promised = () => {
		const agent = without("b");
		agent.hear("poll", 1);
		agent.clock.pass(ASKS_MS);
		agent.hear("poll", 2);
		return { agent, until: agent.clock.now() + PROMISED_MS };
	};

	it("lasts three and a half leases, its machine's sleep among them", () => {
		const { agent, until } = promised();
		expect(agent.ride.promisedUntil).toBe(until);
		agent.clock.sleptMs = 1_000;
		expect(agent.ride.promisedUntil).toBe(until - 1_000);
	});

	it.each<[string, boolean, Parameters<Agent["hear"]>]>([
		["of its poll", true, ["over", 2]],
		["of a newer poll", true, ["over", 3]],
		["of an older poll", false, ["over", 1]],
		["of another plan", false, ["over", 2, { plan: "plan-2" }]],
		["of who is not the head", false, ["over", 2, { from: "c-1" }]],
	])("is released by the word %s: %s", (_, isReleased, heard) => {
		const { agent, until } = promised();
		agent.hear(...heard);
		expect(agent.ride.promisedUntil).toBe(isReleased ? NEVER : until);
		expect(agent.releases).toBe(isReleased ? 1 : 0);
	});

	it("outlives the round that it was given in, and what is said in the next one", () => {
		const { agent, until } = promised();
		agent.see("plan-2", 51);
		agent.hear("over", 9, { plan: "plan-2" });
		expect(agent.ride.promisedUntil).toBe(until);
	});
});

it("an agent that the head knows of this plan waits for no riders once what was permitted before is over", () => {
	const { ride, clock } = new Agent("c");
	expect(ride.knownFrom(PLAN)).toBe(clock.now() + PROMISED_MS);
	expect(ride.knownFrom("plan-2")).toBeUndefined();
});
