import { describe, expect, it } from "vitest";
import { Peers } from "../../../src/links/peers.js";
import type { LinkedAgent as Agent } from "../../../src/model/index.js";

const LEASE_MS = 6_000;

function agent(nodeId: string, process = 1): Agent {
	const link = { address: "::1", port: 1, secret: "00" };
	return { nodeId, incarnation: `${nodeId}.${process}`, link };
}

const [a, b, c] = [agent("a"), agent("b"), agent("c")];

/** What is known after these events, each at its time. */
function believed(
	...events: readonly [at: number, change: (peers: Peers, at: number) => void][]
): Peers {
	const peers = new Peers(LEASE_MS);
	for (const [at, change] of events) change(peers, at);
	return peers;
}

type Change = (peers: Peers, at: number) => void;
const opened =
	(who: Agent): Change =>
	(peers, at) =>
		peers.opened(who, at);
const heard =
	(who: Agent, everyMs?: number): Change =>
	(peers, at) =>
		peers.heard(who, at, everyMs);
const closed =
	(who: Agent, inOrder = false): Change =>
	(peers, at) =>
		peers.closed(who.incarnation, at, inOrder);
const forget: Change = (peers, at) => void peers.forget(at);

describe("A9 what is believed of an agent", () => {
	type Row = [
		what: string,
		events: readonly [number, Change][],
		at: number,
		heard: readonly string[],
		suspected: readonly string[],
	];
	it.each<Row>([
		["heard once it is linked", [[0, opened(a)]], 0, ["a"], []],
		["not yet silent", [[0, opened(a)]], 450, ["a"], []],
		["silent after twice its interval", [[0, opened(a)]], 451, [], ["silent"]],
		[
			"heard again",
			[
				[0, opened(a)],
				[3_000, heard(a)],
			],
			3_100,
			["a"],
			[],
		],
		[
			"waited for as long as it has said",
			[
				[0, opened(a)],
				[100, heard(a, 1_000)],
			],
			2_000,
			["a"],
			[],
		],
		[
			"suspected where its link was closed",
			[
				[0, opened(a)],
				[1, closed(a)],
			],
			2,
			[],
			["closed"],
		],
		[
			"not suspected where it left in order",
			[
				[0, opened(a)],
				[1, closed(a, true)],
				[2, closed(a)],
			],
			3,
			[],
			[],
		],
		[
			"not suspected once its lease has decided",
			[
				[0, opened(a)],
				[1, closed(a)],
				[6_002, forget],
			],
			6_002,
			[],
			[],
		],
		[
			"suspected until then",
			[
				[0, opened(a)],
				[1, closed(a)],
				[6_001, forget],
			],
			6_001,
			[],
			["closed"],
		],
		[
			"forgotten where it was silent for so long",
			[
				[0, opened(a)],
				[6_001, forget],
			],
			6_001,
			[],
			[],
		],
		[
			"another process of its node",
			[
				[0, opened(a)],
				[1, closed(a)],
				[2, opened(agent("a", 2))],
			],
			3,
			["a"],
			[],
		],
		[
			"heard until its speaker says that it is not",
			[[0, (peers, at) => peers.opened(a, at, true)]],
			60_000,
			["a"],
			[],
		],
		["nobody of whom it knows nothing", [[0, heard(b)]], 0, [], []],
	])("%s", (_, events, at, hears, suspects) => {
		const peers = believed(...events);
		expect(peers.heardNow(at)).toEqual(hears);
		expect(peers.suspected(at).map(({ why }) => why)).toEqual(suspects);
	});

	it("heard also after an earlier process of its node has called and left", () => {
		const next = agent("a", 2);
		const peers = believed([0, opened(next)], [1, opened(a)]);
		peers.heard(next, 2);
		expect(peers.heardNow(452)).toEqual([]);
		peers.closed("a.1", 453, true);
		peers.heard(next, 454);
		expect(peers.heardNow(454)).toEqual(["a"]);
	});

	it("is asked no less often where speakers ask the others", () => {
		const peers = new Peers(LEASE_MS);
		for (let index = 0; index < 300; index++) {
			peers.opened(agent(`n${index}`), 0, index >= 32);
		}
		expect(peers.everyMs).toBe(200);
		peers.closed("n299.1", 1, true);
		peers.opened(agent("n32"), 1);
		expect(peers.everyMs).toBe(400);
	});

	it("is asked less often where there are many", () => {
		const peers = new Peers(LEASE_MS);
		const periods = Array.from({ length: 65 }, (_, index) => {
			peers.opened(agent(`n${index}`), 0);
			return peers.everyMs;
		});
		expect(periods[31]).toBe(200);
		expect(periods[32]).toBe(400);
		expect(periods[64]).toBe(600);
		peers.heard(agent("n1"), 0, 60_000);
		expect(peers.forget(6_001)).toHaveLength(64);
	});
});

describe("A9 an agent calls", () => {
	const deaf = { nodeId: "deaf", incarnation: "deaf.1" };

	it("the coordinator, for itself and its guard", () => {
		const peers = new Peers(LEASE_MS);
		expect(peers.calls("a.1", b)).toEqual({ agent: b, guard: b });
		expect(peers.calls("a.1", deaf)).toEqual({});
		expect(peers.calls("a.1", undefined)).toEqual({});
	});

	it("nobody whose launcher has left, but who has only hung up", () => {
		const peers = believed([0, opened(b)]);
		peers.closed("b.1", 1, true);
		expect(peers.calls("a.1", b).agent).toEqual(b);
		peers.left("b.1");
		expect(peers.calls("a.1", b)).toEqual({});
	});

	it("the first speaker of its group that speaks, else the coordinator", () => {
		const peers = new Peers(LEASE_MS);
		const called = () => peers.calls("d.1", a, [b, c]);
		expect(called()).toEqual({ agent: b, guard: b });
		peers.passOver("b.1");
		expect(called()).toEqual({ agent: c, guard: c });
		peers.left("c.1");
		expect(called()).toEqual({ agent: a, guard: a });
		peers.beginRound();
		expect(called().agent).toEqual(b);
		expect(peers.calls("b.1", a, [b, c]).agent).toEqual(a);
	});

	it("as coordinator nobody, and for its guard who has been linked for the longest time", () => {
		const first = believed([0, opened(deaf)], [1, opened(c)], [2, opened(b)]);
		expect(first.calls("a.1", a).guard).toMatchObject(c);
		expect(first.calls("a.1", a).agent).toBeUndefined();
		const next = believed([1, opened(c)], [2, opened(b)], [3, closed(c)]);
		expect(next.calls("a.1", a).guard).toMatchObject(b);
	});
});
