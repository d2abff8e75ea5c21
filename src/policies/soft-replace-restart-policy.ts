import { RestartPolicy } from "./restart-policy.js";
import { SoftRestartPolicyStrategy } from "./soft-restart-policy.js";
import type { RestartDecision, WorkerFailureContext } from "./strategy.js";

/**
 * Survivors keep their processes, also those of the node whose worker failed:
 * only the failed worker is started anew, and pays by itself.
 */
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
