import { describe, expect, it } from "vitest";
import { awaits } from "../../../src/rendezvous/records/awaited.js";
import type { HistoryRecord } from "../../../src/rendezvous/records/history-record.js";
import { RunKeys } from "../../../src/rendezvous/records/keys.js";
import type {
	NodeRecord,
	RoundRecord,
	Seat,
} from "../../../src/rendezvous/records/records.js";
import { describeRun, runIdsIn } from "../../../src/status/describe-run.js";
import { runSpec } from "../../helpers/run-settings.js";
import { snapshotOf } from "../../helpers/run-snapshot.js";
import {
	failureRecord,
	historyRecord,
	nodeRecord,
	roundRecord,
	seatRecord,
} from "../../helpers/run-view.js";

const KEYS = new RunKeys("r");
const NOW = 10_000;
const NONE = { version: 1 } as const;
const SPEC = runSpec({ maxRestarts: 3, minNodes: 2, maxNodes: 3 });
const RUNNING = { synced: 1, deprecated: 0, planId: "plan-1", seats: 2 };
const OPEN = { ...RUNNING, deprecated: 1 };
const FAILURE = {
	kind: "failure",
	changeEvent: "SCALE_DOWN",
	reason: "rank 0 on a: exit code 1",
	root: failureRecord("a"),
} as const;
const SEATS = {
	a: seatRecord("a", { groupRank: 0 }),
	b: seatRecord("b", { groupRank: 1, firstRank: 2, localWorldSize: 1 }),
};
const run = (nodeId: string, change: Partial<NodeRecord> = {}) =>
	nodeRecord(nodeId, { state: "running", since: 4_000, ...change });

interface Keys {
	readonly round?: Partial<RoundRecord>;
	readonly nodes?: readonly NodeRecord[];
	readonly seats?: Readonly<Record<string, Seat>>;
	readonly lines?: readonly HistoryRecord[];
	/** Others, as they stand in the store. */
	readonly rest?: Readonly<Record<string, { readonly version: 1 }>>;
}

function recordsOf({ round, nodes = [], seats, lines = [], rest }: Keys) {
	return {
		...rest,
		[KEYS.round]: roundRecord({ instance: 7, ...round }),
		[KEYS.spec]: SPEC,
		...byKey(nodes, ({ nodeId }) => KEYS.node(nodeId)),
		...byKey(lines, (line) => KEYS.historyOf(line.round)),
		...Object.fromEntries(
			Object.entries(seats ?? {}).map(([id, seat]) => [KEYS.seat(id), seat]),
		),
	};
}

/** Records of this start of the run. */
function byKey<Record extends object>(
	records: readonly Record[],
	keyOf: (record: Record) => string,
) {
	return Object.fromEntries(
		records.map((one) => [
			keyOf(one),
			{ version: 1 as const, ...one, instance: 7 },
		]),
	);
}

const describeKeys = (keys: Keys) =>
	describeRun("r", snapshotOf(recordsOf(keys)), NOW);

describe("the phase of a run", () => {
	const ended = {
		result: "succeeded",
		exitCode: 0,
		reason: "all nodes have finished",
		root: null,
		endedAt: 9_000,
	} as const;
	const line = historyRecord({ liftedAt: 3_000 });
	const left = { ...line, endedAt: 6_000 };

	it.each<[string, number | null, Keys]>([
		["forming", 7, { nodes: [nodeRecord("a")] }],
		["running", 3_000, { round: RUNNING, nodes: [run("a")], lines: [line] }],
		["leaving", 6_000, { round: OPEN, nodes: [run("a")], lines: [left] }],
		[
			"leaving",
			6_000,
			{ round: OPEN, nodes: [run("a", { state: "leaving" })], lines: [left] },
		],
		[
			"waiting",
			6_000,
			{ round: OPEN, nodes: [nodeRecord("a", { claim: 2 })], lines: [left] },
		],
		["ended", 9_000, { round: { ...RUNNING, outcome: ended } }],
		["abandoned", null, { round: RUNNING, lines: [line] }],
	])("is %s since %s", (phase, since, keys) => {
		expect(describeKeys({ seats: SEATS, ...keys })).toMatchObject({
			phase,
			since,
		});
	});
});

describe("what is waited for", () => {
	const open: Keys = {
		round: OPEN,
		nodes: [nodeRecord("a", { claim: 2 }), run("b")],
		seats: SEATS,
		lines: [historyRecord({ endedAt: 6_000 })],
	};
	const ready = (nodeId: string, claim = 1) => nodeRecord(nodeId, { claim });
	const WORK = [run("a"), run("b")];
	const told = (change: object) => ({
		[KEYS.waiting]: {
			version: 1 as const,
			instance: 7,
			...awaits(
				"members",
				{ round: roundRecord(OPEN) },
				{ minNodes: 2, maxNodes: 3 },
				{ here: ["a"], missing: ["z"] },
			),
			since: 5_500,
			until: 12_000,
			...change,
		},
	});

	it("is what the coordinator has told", () => {
		expect(describeKeys({ ...open, rest: told({}) })?.waiting).toEqual({
			words: "waiting for z: a is here; 2 s left",
			since: 5_500,
			until: 12_000,
			needed: 0,
			missing: ["z"],
		});
	});

	it.each<[string, Keys, string]>([
		["has told nothing yet", open, "waiting for b: a is here"],
		[
			"has told of another instance",
			{ ...open, rest: told({ instance: 6 }) },
			"waiting for b: a is here",
		],
		[
			"has told of another round",
			{ ...open, rest: told({ round: 1 }) },
			"waiting for b: a is here",
		],
		[
			"waits for MIN",
			{ nodes: [ready("a")] },
			"waiting for 1 more node (at least 2): a is here",
		],
		[
			"waits for a member that has gone, below MIN",
			{ round: OPEN, seats: SEATS, nodes: [ready("a", 2)] },
			"waiting for 1 more node (at least 2): a is here; missing: b",
		],
		[
			"makes a last call",
			{ nodes: [ready("a"), ready("b")] },
			"last call (at most 3 nodes): a, b are here",
		],
		[
			"makes one while a round runs",
			{ ...{ round: RUNNING, seats: SEATS }, nodes: [...WORK, ready("c", 2)] },
			"last call while round 1 runs: c would join",
		],
		[
			"lets nobody in, because one has finished",
			{
				...{ round: RUNNING, seats: SEATS, nodes: [...WORK, ready("c", 2)] },
				rest: { [KEYS.finishedBy("b")]: { ...NONE, ...{ planId: "plan-1" } } },
			},
			"waiting for the end of round 1, which no node may join because one of its nodes has finished: c is here",
		],
	])("is what it would see where it %s", (_, keys, words) => {
		const shown = describeKeys(keys)?.waiting;
		expect(shown).toMatchObject({ words, until: null });
	});

	it("is nothing while a round runs, nor when nobody waits any more", () => {
		const nodes = [run("a"), run("b")];
		const running = describeKeys({ round: RUNNING, nodes, seats: SEATS });
		expect(running?.waiting).toBeNull();
		const abandoned = describeKeys({ round: OPEN, rest: told({}) });
		expect(abandoned?.waiting).toBeNull();
	});
});

describe("the nodes of a run", () => {
	it("are its members by rank, then the others as they came", () => {
		const status = describeKeys({
			round: RUNNING,
			seats: SEATS,
			nodes: [
				nodeRecord("s", { claim: 2 }),
				run("b", { pids: [103] }),
				run("a", { pids: [101, null] }),
			],
		});
		expect(status?.nodes).toMatchObject([
			{
				...{ nodeId: "a", part: "member", groupRank: 0, ranks: [0, 1] },
				...{ state: "running", since: 4_000, workerPids: [101, null] },
				...{ pid: 1, address: "a.example", hostId: "host" },
			},
			{ nodeId: "b", ranks: [2, 2], workerPids: [103] },
			{ nodeId: "s", part: "spare", groupRank: null, ranks: null },
		]);
	});

	it.each([
		["while no round is whole", "waiting", OPEN],
		["beside a round that is", "spare", RUNNING],
	])("are, without a seat %s: %s", (_, part, round) => {
		const status = describeKeys({ round, nodes: [nodeRecord("s")] });
		expect(status?.nodes.at(-1)).toMatchObject({ nodeId: "s", part });
	});

	it("tell who is gone, who has finished, who is refused, who leaves and why", () => {
		const status = describeKeys({
			round: RUNNING,
			seats: {
				...SEATS,
				c: seatRecord("c", { groupRank: 2 }),
				d: { version: 1, incarnation: "d-1", refused: "spent" },
			},
			nodes: [
				nodeRecord("d"),
				run("c", { state: "leaving", cause: "SIGTERM" }),
			],
			rest: { [KEYS.finishedBy("b")]: { version: 1, ...{ planId: "plan-1" } } },
		});
		expect(status?.nodes).toMatchObject([
			{ nodeId: "a", state: "gone", pid: null, since: null },
			{ nodeId: "b", state: "finished", pid: null },
			{ nodeId: "c", state: "leaving", cause: "SIGTERM" },
			{ nodeId: "d", part: "refused" },
		]);
	});

	it("have no ranks in a round whose plan is still being written", () => {
		const a = {
			planId: "plan-x",
			previous: { planId: "plan-1", groupRank: 0 },
		};
		const status = describeKeys({
			round: OPEN,
			seats: { ...SEATS, a: seatRecord("a", a) },
			nodes: [run("a"), run("b")],
		});
		expect(status?.nodes).toMatchObject([
			{ nodeId: "a", groupRank: 0, ranks: null },
			{ nodeId: "b", ranks: [2, 2] },
		]);
	});
});

describe("restarts and incidents", () => {
	it("are told of the run and of each node", () => {
		const status = describeKeys({
			round: { ...RUNNING, charged: 1, incidents: 4 },
			seats: SEATS,
			nodes: [run("a")],
			rest: { [KEYS.budget("b")]: { version: 1, ...{ charged: 5 } } },
		});
		expect(status).toMatchObject({
			restarts: { allowed: 3, used: 1, left: 2 },
			incidents: 4,
			nodes: [
				{ restarts: { used: 0, left: 3 } },
				{ restarts: { used: 5, left: 0 } },
			],
		});
	});

	const failed = historyRecord({ round: 2, cause: FAILURE, begunAt: 6_000 });
	const grown = historyRecord({ round: 3 });
	const incident = { round: 1, reason: "rank 0 on a: exit code 1" };

	it.each<[string, Keys, object | null]>([
		[
			"of the round that is being left",
			{
				round: { ...OPEN, cause: FAILURE },
				lines: [historyRecord({ endedAt: 6_000 })],
			},
			{ ...incident, at: 6_000 },
		],
		[
			"of a round before",
			{
				round: { ...RUNNING, synced: 3, deprecated: 2 },
				lines: [failed, grown],
			},
			{ ...incident, at: 6_000 },
		],
		["none", { round: RUNNING, lines: [historyRecord()] }, null],
	])("the last incident: %s", (_, keys, last) => {
		const status = describeKeys(keys);
		if (last === null) expect(status?.lastIncident).toBeNull();
		else expect(status?.lastIncident).toMatchObject(last);
	});

	it("of another instance are not this run's any more", () => {
		const old = { ...failed, instance: 6 };
		const rest = { [KEYS.historyOf(2)]: old };
		expect(describeKeys({ round: RUNNING, rest })?.lastIncident).toBeNull();
	});
});

describe("runs", () => {
	it("that have no round are none", () => {
		expect(describeRun("r", snapshotOf({}), NOW)).toBeUndefined();
	});

	it("are found by the names in their keys", () => {
		const both = { ...recordsOf({}), "/elastic-run/r.2/round": SPEC };
		expect(runIdsIn(snapshotOf(both))).toEqual(["r", "r.2"]);
	});

	it("are shown without their settings and their coordinator where only those are garbled, and both are named", () => {
		const garbled = { [KEYS.spec]: NONE, [KEYS.coordinator]: NONE };
		const warnings: string[] = [];
		const records = { ...recordsOf({ nodes: [nodeRecord("a")] }), ...garbled };
		const status = describeRun("r", snapshotOf(records), NOW, (words) =>
			warnings.push(words),
		);
		expect(status).toMatchObject({
			...{ phase: "forming", coordinator: null },
			...{ minNodes: null, maxNodes: null, policy: null },
		});
		expect(warnings).toEqual([
			expect.stringContaining(`${KEYS.spec} is garbled: its minNodes`),
			expect.stringContaining(`${KEYS.coordinator} is garbled: its nodeId`),
		]);
	});

	it("of another version are refused with their name", () => {
		const other = { ...roundRecord(), version: 2 as unknown as 1 };
		const snapshot = snapshotOf({ [KEYS.round]: other });
		expect(() => describeRun("r", snapshot, NOW)).toThrow(
			"/elastic-run/r/round holds no record of version 1",
		);
	});
});
