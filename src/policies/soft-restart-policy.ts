import { RestartPolicy } from "./restart-policy.js";
import type {
	PolicyContext,
	RestartDecision,
	RestartPolicyStrategy,
	WorkerFailureContext,
} from "./strategy.js";

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
