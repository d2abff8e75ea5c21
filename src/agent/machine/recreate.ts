import { EXIT_CODES } from "../../base/errors.js";
import type { RoundView } from "../../rendezvous/member/membership.js";
import { spentByRun } from "../../rendezvous/planner/pay-incident.js";
import { usedOf } from "../../rendezvous/planner/spending.js";
import { type Active, beginStopping } from "./begin-stopping.js";
import { leaveWhenSeen } from "./leave-when-seen.js";
import type { Finished, Left, Next, Stopping } from "./state.js";
import type { Transition, TransitionContext } from "./step.js";
import { paused } from "./worker-slot.js";

/** Whether this process has had its round, and ends instead of starting workers for another one. */
export function hasHadItsRound(
	{ round, workers }: Pick<Left, "round" | "workers">,
	{ isRecreated }: TransitionContext,
): boolean {
	return isRecreated && round > 0 && paused(workers).length === 0;
}

/**
 * Whether its failure may have spent the run's budget: then it waits for the outcome. A new process could only exit with
 * that.
 */
export function mayHaveSpent(
	{ round: own, failure }: Stopping,
	{ round }: RoundView,
	{ maxRestarts, restartLimits, wallTime }: TransitionContext,
): boolean {
	const isOwn = failure?.failure.round === own && round.deprecated < own;
	const paysFor = isOwn ? failure : round.unpaid;
	const limit = { windowMs: restartLimits?.windowMs ?? 0 };
	const used = usedOf(spentByRun(round), limit, wallTime);
	return paysFor?.charge === "run" && used >= maxRestarts;
}

/** Says that it will be started again, and ends when the others know that. */
export function recreate(
	state: Active | Finished,
	context: TransitionContext,
): Transition {
	const active: Active =
		state.phase === "FINISHED"
			? { ...state, phase: "JOINING", claim: 0, seat: null, workers: [] }
			: state;
	const rejoin: Next = { kind: "rejoin" };
	const stopping = beginStopping(active, active.workers, rejoin, "");
	const reason = `ends, to be started again for round ${stopping.claim}`;
	const { failure, round } = stopping;
	const isOwn = failure?.failure.round === round && failure.isWish !== true;
	const root = isOwn ? failure.failure : null;
	const next = {
		...{ kind: "leave" as const, exitCode: EXIT_CODES.restart, reason, root },
		...{ departure: "recreated" as const, leaveBy: null },
	};
	return { ...leaveWhenSeen({ ...stopping, next }, next, context), reason };
}
