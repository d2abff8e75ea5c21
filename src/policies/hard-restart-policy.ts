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
