import { RestartPolicy } from "./restart-policy.js";
import type {
	PolicyContext,
	RestartDecision,
	RestartPolicyStrategy,
	WorkerFailureContext,
} from "./strategy.js";

/**
 * Survivors keep their processes, also those of the node whose worker failed:
 * only the failed worker is started anew, and pays by itself.
 */
export class SoftReplaceRestartPolicyStrategy implements RestartPolicyStrategy {
	readonly name = RestartPolicy.SOFT_REPLACE;
	readonly finishedNodes = "stay";

	onScaleUp(context: PolicyContext): RestartDecision {
		return { workers: "pause", charge: "nothing", reason: context.cause };
	}

	onScaleDown(context: PolicyContext): RestartDecision {
		return { workers: "pause", charge: "nothing", reason: context.cause };
	}

	onWorkerFailure(context: WorkerFailureContext): RestartDecision {
		return {
			workers: "replace-failed",
			charge: "worker",
			reason: context.cause,
		};
	}
}
