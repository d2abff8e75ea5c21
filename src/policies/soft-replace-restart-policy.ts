import { RestartPolicy } from "./restart-policy.js";
import { SoftRestartPolicyStrategy } from "./soft-restart-policy.js";
import type { RestartDecision, WorkerFailureContext } from "./strategy.js";

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
