import { describe, expect, it } from "vitest";
import {
	type Beginning,
	beginRun,
} from "../../../src/rendezvous/member/begin-run.js";
import type { RoundRecord } from "../../../src/rendezvous/records/records.js";
import type { RunSpec } from "../../../src/rendezvous/records/run-spec.js";
import type { RunView } from "../../../src/rendezvous/records/run-view.js";
import { runSpec } from "../../helpers/run-settings.js";
import {
	nodeRecord,
	roundRecord,
	runView,
	seatRecord,
} from "../../helpers/run-view.js";

const SPEC = runSpec({ minNodes: 1, maxNodes: 2, maxRestarts: 3 });
const NEW = { wallTime: 1_795_163_940_000.6, hasWaited: false };
const ENDED: Partial<RoundRecord> = {
	instance: 7,
	synced: 5,
	deprecated: 5,
	charged: 2,
	outcome: { result: "failed", exitCode: 1, reason: "spent", root: null },
};

const alive = nodeRecord("a", { instance: 7 });
const ofAnother = nodeRecord("a", { instance: 6 });

describe("what a process that has just started does", () => {
	it("begins a run that nobody has begun, named by the time", () => {
		expect(beginRun(undefined, undefined, SPEC, NEW)).toMatchObject({
			kind: "begin",
			round: { instance: 1_795_163_940_001, synced: 0, deprecated: 0 },
		});
	});

	it("goes on with a run that has no outcome though nobody lives", () => {
		expect(beginRun(runView({ instance: 7 }, []), SPEC, SPEC, NEW)).toEqual({
			kind: "join",
			instance: 7,
			otherCommand: [],
		});
	});

	it.each([
		[true, 0],
		[undefined, 0],
		[undefined, 1],
	])("at the end of another command's run waits only where runs take turns (%j)", (takesTurns, own) => {
		const command = (words: string) => ({
			words,
			argumentsDigest: words.repeat(64),
			scriptDigest: "",
		});
		const begin = () =>
			beginRun(runView(ENDED, [alive]), SPEC, SPEC, NEW, {
				mine: {
					...{ command: command(String(own)), role: "default" },
					...{ mustAgree: false, ...(takesTurns && { takesTurns }) },
				},
				theirs: command("1"),
			});
		if (own === 1) expect(begin()).toMatchObject({ kind: "late" });
		else if (takesTurns) expect(begin()).toMatchObject({ kind: "wait" });
		else expect(begin).toThrow("give another --run-id");
	});

	it.each([
		["nobody of it lives", []],
		["only a record of an earlier instance lives", [ofAnother]],
	])("begins again after an outcome when %s; round numbers go on", (_, nodes) => {
		expect(beginRun(runView(ENDED, nodes), SPEC, SPEC, NEW)).toMatchObject({
			kind: "begin",
			round: {
				instance: 1_795_163_940_001,
				synced: 5,
				deprecated: 5,
				charged: 0,
				planId: null,
				outcome: null,
			},
		});
	});

	it("is refused where its settings differ from those of a living run, with both values", () => {
		const mine: RunSpec = {
			...SPEC,
			minNodes: 2,
			maxNodes: 4,
			maxRestarts: 0,
			policy: "mine sha256:12",
			leaseTtlMs: 2_500,
		};
		expect(() =>
			beginRun(runView({ instance: 7 }, [alive]), SPEC, mine, NEW),
		).toThrow(
			"settings differ from the run's: --nnodes: 1:2 there, 2:4 here; --restart-policy: hard there, mine sha256:12 here; --max-restarts: 3 there, 0 here; --rdzv-conf lease_ttl: 5s there, 2.5s here; start it",
		);
	});

	it.each([
		[
			"soft",
			"settings differ from the run's: --restart-policy: hard there, soft here; start it",
		],
		[
			SPEC.policy,
			"the run's: finishedNodes of --restart-policy: rejoin there, stay here; start it",
		],
	])("names what follows from the policy only where that is the same: %s", (policy, words) => {
		const mine: RunSpec = { ...SPEC, policy, finishedStay: true };
		expect(() =>
			beginRun(runView({ instance: 7 }, [alive]), SPEC, mine, NEW),
		).toThrow(words);
	});

	it.each([
		[undefined, 3_600_000, "--deadline: none there, 3600s here"],
		[90_000, undefined, "--deadline: 90s there, none here"],
	])("P11 all agents need the same deadline: %j and %j", (theirs, mine, words) => {
		const withDeadline = (deadlineMs: number | undefined): RunSpec => ({
			...SPEC,
			...(deadlineMs !== undefined && { deadlineMs }),
		});
		expect(() =>
			beginRun(
				runView({ instance: 7 }, [alive]),
				...([withDeadline(theirs), withDeadline(mine), NEW] as const),
			),
		).toThrow(words);
	});

	it("begins again where its settings differ from those of a run of which nobody lives", () => {
		const mine = { ...SPEC, maxNodes: 4 };
		expect(
			beginRun(runView({ instance: 7 }, []), SPEC, mine, NEW),
		).toMatchObject({ kind: "begin" });
	});

	describe("where its settings differ from those of members that may ride out an outage", () => {
		const theirs = { ...SPEC, rideOutMs: 600_000 };
		const mine = { ...theirs, maxNodes: 4 };
		const seats = Object.fromEntries(
			["a", "b"].map((id, groupRank) => [id, seatRecord(id, { groupRank })]),
		);
		const head = { nodeId: "a", incarnation: "a-1" };
		const ROUND = { instance: 7, synced: 1, planId: "plan-1", seats: 2, head };
		const begin = (own = mine, coming = NEW, change: Partial<RunView> = {}) =>
			beginRun(
				{ ...runView(ROUND, [], { seats }), ...change },
				theirs,
				own,
				coming,
			);
		const left = new Map([["b", "b-1"]]);
		const all = new Map([...left, ["a", "a-1"]]);
		const { outcome = null } = ENDED;
		const over = { round: roundRecord({ ...ROUND, outcome }) };

		it.each<[string, Beginning, number]>([
			["as long as they may ride", begin(), 600_000],
			["less where one has ended", begin(mine, NEW, { left }), 17_500],
			[
				"also where others have stopped the run",
				begin(theirs, NEW, over),
				600_000,
			],
		])("waits for them, %s", (_, beginning, lastMs) => {
			expect(beginning).toMatchObject({ kind: "wait", lastMs });
		});

		it.each<[string, Beginning]>([
			["once it has waited", begin(mine, { ...NEW, hasWaited: true })],
			["where its user turns that off", begin({ ...mine, rideOutMs: 0 })],
			["where all of them have ended", begin(mine, NEW, { left: all })],
			[
				"where all have seen its end",
				begin(theirs, NEW, { ...over, left: all }),
			],
		])("begins again %s", (_, beginning) => {
			expect(beginning).toMatchObject({ kind: "begin" });
		});
	});
});
