import { isRestarting } from "../records/candidates.js";
import type { NodeFailure, RoundRecord } from "../records/records.js";
import type { RunView } from "../records/run-view.js";
import type { PlannerConfig } from "./plan.js";

/** How far the round came that was left last, by the roles that restart: others run on, whatever these do. */
export interface RoundProgress {
	/** The furthest step of all rounds, by role; undefined if none counts steps. */
	readonly furthest: RoundRecord["furthest"];
	/** One of these roles counts steps, now or before. */
	readonly countsSteps: boolean;
	/** These are the first steps of these roles. */
	readonly isFirst: boolean;
	/** Steps were made in it. */
	readonly hasSteps: boolean;
	/** A role came further than in all rounds before, or may have: where steps go back, nobody knows. */
	readonly isFurther: boolean;
}

/** All members that are there say how far they came when they leave a round. */
export function progressOf({ round, nodes }: RunView): RoundProgress {
	const furthest = new Map(Object.entries(round.furthest ?? {}));
	const countsSteps = () =>
		[...furthest.keys()].some((role) => isRestarting(round, role));
	const didCount = countsSteps();
	let hasSteps = false;
	let isFurther = false;
	for (const { record } of nodes.values()) {
		const { reached, role, instance } = record;
		const isOfRound = reached?.round === round.synced;
		if (!isOfRound || instance !== round.instance) continue;
		if (!isRestarting(round, role)) continue;
		hasSteps = true;
		const before = furthest.get(role) ?? Number.NEGATIVE_INFINITY;
		if (reached.step !== null && reached.step <= before) continue;
		isFurther = true;
		if (reached.step !== null) furthest.set(role, reached.step);
	}
	return {
		furthest: furthest.size === 0 ? undefined : Object.fromEntries(furthest),
		countsSteps: countsSteps(),
		isFirst: !didCount && countsSteps(),
		...{ hasSteps, isFurther },
	};
}

/** Whether anything was seen to work in the round of this failure: a step, or where none is counted, its time. */
export function hasMoved(
	{ hasSteps, countsSteps }: RoundProgress,
	{ failure }: NodeFailure,
	{ settleTimeoutMs }: Pick<PlannerConfig, "settleTimeoutMs">,
): boolean {
	return hasSteps || (!countsSteps && failure.uptimeMs >= settleTimeoutMs);
}

/**
 * Whether the round of this failure came further than all before. Where no worker of these roles counts steps, a worker that has
 * run for the settle time is taken to have.
 */
export function cameFurther(
	{ isFurther, countsSteps }: RoundProgress,
	{ failure }: NodeFailure,
	{ settleTimeoutMs }: Pick<PlannerConfig, "settleTimeoutMs">,
): boolean {
	return isFurther || (!countsSteps && failure.uptimeMs >= settleTimeoutMs);
}
