import { RestartPolicy } from "./restart-policy.js";
import type {
	PolicyContext,
	RestartDecision,
	RestartPolicyStrategy,
	WorkerFailureContext,
} from "./strategy.js";

/**
 * Survivors keep their processes: PAUSE when the world changes, WORK in the next
 * round. A node whose worker failed ends its others as well, pays, and comes back
 * with fresh ones. What the RFC calls soft-no-replace.
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
