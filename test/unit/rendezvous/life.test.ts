import { expect, test } from "vitest";
import {
	lifeOf,
	noteLife,
	runTimeOf,
} from "../../../src/rendezvous/planner/life.js";
import {
	EMPTY_MEMORY,
	type PlannerConfig,
} from "../../../src/rendezvous/planner/plan.js";
import { planRound } from "../../../src/rendezvous/planner/plan-round.js";
import {
	type LivedRecord,
	runTimeBy,
} from "../../../src/rendezvous/records/lived-record.js";
import { runSpec } from "../../helpers/run-settings.js";
import { nodeRecord, runView } from "../../helpers/run-view.js";

const BEGUN = 1_795_000_000_000;
const HOUR_MS = 3_600_000;
const waits = runView({ instance: BEGUN }, [nodeRecord("a")]);

function lived(livedMs: number, instance = BEGUN): LivedRecord {
	return { version: 1, instance, livedMs, at: BEGUN + livedMs };
}

test.each([
	["the first coordinator begins to count", undefined, null, 0],
	["a successor counts on", lived(90_000), null, 90_000],
	["another start of the run counts from its own", lived(9, 7), null, 0],
	[
		"who coordinates goes by what it counts itself",
		lived(90_000),
		{ instance: BEGUN, from: 5_000 - 95_000 },
		95_000,
	],
	[
		"what it has counted of another start means nothing",
		undefined,
		{ instance: 7, from: 0 },
		0,
	],
])("K10 the time that a run has lived: %s", (_, record, known, livedMs) => {
	const life = lifeOf({ ...waits, lived: record }, known, 5_000);
	expect(runTimeOf(life, 5_000)).toBe(BEGUN + livedMs);
	expect(runTimeOf(life, 6_000)).toBe(BEGUN + livedMs + 1_000);
});

test.each([
	["nothing depends on it", {}, undefined, undefined, undefined],
	["at once", { deadlineMs: 12_000 }, undefined, 50_000, 51_000],
	["each second", { deadlineMs: 12_000 }, lived(49_500), undefined, 50_500],
	["again", { deadlineMs: 12_000 }, lived(49_000), 50_000, 51_000],
	["once a minute", { deadlineMs: 9e9 }, lived(40_000), undefined, 100_000],
	["by windows", { restartWindowMs: 1e6 }, lived(45_000), undefined, 55_000],
] as const)("K10 a coordinator notes it for a successor: %s", (_, config, record, written, lookAt) => {
	const life = { instance: BEGUN, from: 0 };
	const settings: PlannerConfig = { ...runSpec(), ...config };
	const time = { now: 50_000, wallTime: 3 };
	const view = { ...waits, lived: record };
	const { write, lookAt: again } = noteLife(view, life, settings, time);
	expect(write?.livedMs).toBe(written);
	expect(again).toBe(lookAt);
});

/** How the run ends whose clock was set by so much, after it has lived so long. */
function endsAt(livedMs: number, setByMs: number, deadlineMs: number) {
	const view = { ...waits, lived: lived(livedMs) };
	const time = { now: 0, wallTime: BEGUN + livedMs + setByMs };
	const config = { ...runSpec(), deadlineMs };
	const { plan } = planRound(view, EMPTY_MEMORY, config, "plan-2", time);
	return plan?.kind === "update" ? plan.round.outcome?.reason : undefined;
}

test("K10 a clock that is set neither ends a run before its deadline nor keeps it beyond", () => {
	expect(endsAt(60_000, 2 * HOUR_MS, HOUR_MS)).toBeUndefined();
	expect(endsAt(12_000, -2 * HOUR_MS, 12_000)).toBe("deadline of 12s");
});

test("K10 who reads of the run takes its time as well", () => {
	expect(runTimeBy(lived(5_000), BEGUN, BEGUN + 9_000)).toBe(BEGUN + 9_000);
	const written = { ...lived(5_000), at: BEGUN + 2 * HOUR_MS };
	const now = BEGUN + 2 * HOUR_MS + 1_000;
	expect(runTimeBy(written, BEGUN, now)).toBe(BEGUN + 6_000);
	expect(runTimeBy(lived(5_000, 7), BEGUN, 3)).toBe(3);
});
