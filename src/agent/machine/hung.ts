import { EXIT_CODES } from "../../base/errors.js";
import { fail } from "./fail.js";
import type { AgentInput } from "./inputs.js";
import type { Running } from "./state.js";
import { ignore, type Transition, type TransitionContext } from "./step.js";

/**
 * The round makes no step because of this worker, or it does not end after its exception: it has failed. It is killed at
 * once, because it hears no SIGTERM where it is stopped or stands in C code. The other workers end as at any failure.
 */
export function onHung(
	state: Running,
	{
		round,
		localRank,
		pid,
		description,
		evidence,
		hint,
		error,
		trace,
		stillMs,
		uptimeMs,
		lastLines,
		failsRun,
		isUnattributed,
		cause = "hang",
		step,
	}: AgentInput & { kind: "worker-hung" },
	context: TransitionContext,
): Transition {
	const worker = state.workers.find(
		(one) => one.localRank === localRank && one.pid === pid,
	);
	// The evidence is of an earlier round, in which a kept worker had the same pid.
	if (worker === undefined || round !== state.round) return ignore(state);
	const exitCode = EXIT_CODES.failed;
	const failed = fail(
		state,
		{
			...{ localRank, pid, exitCode, description, evidence, step },
			...{ hint, error, trace },
			...(failsRun && { failsRun: exitCode }),
			...{ isGivenUp: true, cause, unseenMs: stillMs, isUnattributed },
			...{ uptimeMs, lastLines },
		},
		context,
	);
	// Another one may have ended with 0, while the rest waits for it.
	if (worker.status !== "running") return failed;
	const kill = { kind: "kill", localRanks: [localRank] } as const;
	return { ...failed, effects: [...failed.effects, kill] };
}
