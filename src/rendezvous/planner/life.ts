import type { LivedRecord } from "../records/lived-record.js";
import { RECORD_VERSION } from "../records/records.js";
import type { RunView } from "../records/run-view.js";
import type { Life, PlannerConfig, PlannerTime } from "./plan.js";

type Lived = Pick<RunView, "lived"> & {
	readonly round: Pick<RunView["round"], "instance" | "terms">;
};

/** What a coordinator counts itself, and from what its predecessor has written. */
export function lifeOf(
	{ round: { instance }, lived }: Lived,
	known: Life | null,
	now: number,
): Life {
	if (known?.instance === instance) return known;
	const livedMs = lived?.instance === instance ? lived.livedMs : 0;
	return { instance, from: now - livedMs };
}

/** See `RunTime`. */
export function runTimeOf({ instance, from }: Life, now: number): number {
	return instance + Math.round(now - from);
}

/** A successor may miss so large a part of the shortest time that counts … */
const PART = 0.01;
/** … within these bounds, in milliseconds. */
const LEAST_MS = 1_000;
const MOST_MS = 60_000;

interface LivedStep {
	readonly write: LivedRecord | undefined;
	/** When to look again, on the steady clock; undefined if nothing depends on the run's time. */
	readonly lookAt: number | undefined;
}

/** What to note for a successor now. */
export function noteLife(
	{ round, lived }: Lived,
	life: Life | null,
	config: PlannerConfig,
	{ now, wallTime }: PlannerTime,
): LivedStep {
	const shortestMs = shortestOf(round, config);
	if (shortestMs === undefined || life?.instance !== round.instance) {
		return { write: undefined, lookAt: undefined };
	}
	const everyMs = Math.min(MOST_MS, Math.max(LEAST_MS, PART * shortestMs));
	const livedMs = Math.round(now - life.from);
	const dueAt =
		lived?.instance === round.instance
			? life.from + lived.livedMs + everyMs
			: now;
	if (now < dueAt) return { write: undefined, lookAt: dueAt };
	const { instance } = round;
	const at = Math.round(wallTime);
	return {
		write: { version: RECORD_VERSION, instance, livedMs, at },
		lookAt: now + everyMs,
	};
}

/** The deadline, or the shortest window of a budget; undefined if the run has none. */
function shortestOf(
	{ terms = {} }: Lived["round"],
	config: PlannerConfig,
): number | undefined {
	const { deadlineMs, restartWindowMs } = config;
	const { nodeWindowMs, preemptionWindowMs } = config;
	const ofRoles = Object.values(terms).map(({ windowMs }) => windowMs);
	const times = [
		...[deadlineMs, restartWindowMs, nodeWindowMs, preemptionWindowMs],
		...ofRoles,
	].flatMap((ms) => (ms ? [ms] : []));
	return times.length === 0 ? undefined : Math.min(...times);
}
