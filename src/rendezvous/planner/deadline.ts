import type { RoundRecord } from "../records/records.js";
import type { RunView } from "../records/run-view.js";
import type {
	PlannerConfig,
	PlannerMemory,
	PlannerTime,
	PlanResult,
} from "./plan.js";

/** The units of the command line, in milliseconds. */
const UNITS: readonly (readonly [string, number])[] = [
	["h", 3_600_000],
	["m", 60_000],
	["s", 1_000],
];

/** The end of a run that has taken too long; undefined if it may go on. */
export function planDeadline(
	{ round }: Pick<RunView, "round">,
	memory: PlannerMemory,
	config: PlannerConfig,
	time: PlannerTime,
): PlanResult | undefined {
	const leftMs = leftToRunMs(round, config, time);
	if (round.outcome !== null || leftMs === undefined || leftMs > 0) {
		return undefined;
	}
	const reason = `deadline of ${inNotation(config.deadlineMs ?? 0)}`;
	const outcome = {
		result: "failed",
		exitCode: 1,
		reason,
		root: null,
	} as const;
	return {
		plan: {
			kind: "update",
			round: { ...round, outcome },
			budgets: new Map(),
		},
		memory,
		until: undefined,
		reason,
	};
}

/** The result with a next look at the deadline at the latest. */
export function lookAtDeadline(
	result: PlanResult,
	round: Pick<RoundRecord, "instance">,
	config: PlannerConfig,
	time: PlannerTime,
): PlanResult {
	const leftMs = leftToRunMs(round, config, time);
	if (leftMs === undefined || leftMs <= 0) return result;
	const { until = Number.POSITIVE_INFINITY } = result;
	return { ...result, until: Math.min(until, time.now + leftMs) };
}

/** How long the run may still take, in milliseconds; undefined if it has no deadline. */
function leftToRunMs(
	{ instance }: Pick<RoundRecord, "instance">,
	{ deadlineMs }: PlannerConfig,
	{ wallTime }: PlannerTime,
): number | undefined {
	// The number of a start is its time, which outlives every agent.
	return deadlineMs === undefined
		? undefined
		: instance + deadlineMs - wallTime;
}

/** As on the command line: "90s", "2h". */
function inNotation(durationMs: number): string {
	const [unit, unitMs] = UNITS.find(([, ms]) => durationMs % ms === 0) ?? [
		"ms",
		1,
	];
	return `${durationMs / unitMs}${unit}`;
}
