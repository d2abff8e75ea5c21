import { RestartPolicy } from "./restart-policy.js";
import type {
	PolicyContext,
	RestartDecision,
	RestartPolicyStrategy,
	WorkerFailureContext,
} from "./strategy.js";

/** Any change stops all workers and restarts them together. Failures are charged to the run. */
export class HardRestartPolicyStrategy implements RestartPolicyStrategy {
	readonly name: string = RestartPolicy.HARD;

	onScaleUp(context: PolicyContext): RestartDecision {
		return { workers: "restart", charge: "nothing", reason: context.cause };
	}

	onScaleDown(context: PolicyContext): RestartDecision {
		return { workers: "restart", charge: "nothing", reason: context.cause };
	}

	onWorkerFailure(context: WorkerFailureContext): RestartDecision {
		return { workers: "restart", charge: "run", reason: context.cause };
	}
}

/**
 * Survivors keep their processes: PAUSE when the world changes, WORK in the next round. The node of a failed worker ends
 * its other workers, is charged, and comes back with new ones. The RFC calls this soft-no-replace.
 */
export class SoftRestartPolicyStrategy implements RestartPolicyStrategy {
	readonly name: string = RestartPolicy.SOFT;
	readonly finishedNodes = "stay";

	onScaleUp(context: PolicyContext): RestartDecision {
		return { workers: "pause", charge: "nothing", reason: context.cause };
	}

	onScaleDown(context: PolicyContext): RestartDecision {
		return { workers: "pause", charge: "nothing", reason: context.cause };
	}

	onWorkerFailure(context: WorkerFailureContext): RestartDecision {
		return { workers: "restart", charge: "node", reason: context.cause };
	}
}

/** Survivors keep their processes, even on the node of the failed worker: only that worker is restarted, and charged. */
export class SoftReplaceRestartPolicyStrategy extends SoftRestartPolicyStrategy {
	override readonly name: string = RestartPolicy.SOFT_REPLACE;

	override onWorkerFailure(context: WorkerFailureContext): RestartDecision {
		return {
			workers: "replace-failed",
			charge: "worker",
			reason: context.cause,
		};
	}
}
