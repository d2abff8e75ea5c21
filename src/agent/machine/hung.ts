import { EXIT_CODES } from "../../base/errors.js";
import { fail } from "./fail.js";
import type { AgentInput } from "./inputs.js";
import type { Running } from "./state.js";
import { ignore, type Transition, type TransitionContext } from "./step.js";

/**
 * A worker makes no step and has not ended: it has failed. It is killed at once, because it hears no SIGTERM where it is
 * stopped or stands in C code. The other workers end as at any failure.
 */
export function onHung(
	state: Running,
	{
		localRank,
		pid,
		description,
		evidence,
		stillMs,
		failsRun,
	}: AgentInput & { kind: "worker-hung" },
	context: TransitionContext,
): Transition {
	const isThere = state.workers.some(
		(worker) =>
			worker.localRank === localRank &&
			worker.pid === pid &&
			worker.status === "running",
	);
	// It has ended while its evidence was taken.
	if (!isThere) return ignore(state);
	const exitCode = EXIT_CODES.failed;
	const failed = fail(
		state,
		{
			...{ localRank, pid, exitCode, description, evidence },
			...(failsRun && { failsRun: exitCode }),
			isGivenUp: true,
			unseenMs: stillMs,
		},
		context,
	);
	const kill = { kind: "kill", localRanks: [localRank] } as const;
	return { ...failed, effects: [...failed.effects, kill] };
}
