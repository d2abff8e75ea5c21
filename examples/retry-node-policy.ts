// A policy in TypeScript: workers that are killed (for memory, say) cost their node, all else costs the run.
//
//   elastic-run --restart-policy examples/retry-node-policy.ts --max-node-restarts 2 --nnodes 1:4 train.js
//
// Node 22.18 and newer reads it; before that, the tsx of your project does.
import type {
	PolicyContext,
	RestartDecision,
	RestartPolicyStrategy,
	WorkerFailureContext,
} from "elastic-run";

export default class RetryNodePolicy implements RestartPolicyStrategy {
	readonly name = "retry-node";

	onScaleUp({ cause }: PolicyContext): RestartDecision {
		return { workers: "restart", charge: "nothing", reason: cause };
	}

	onScaleDown({ cause }: PolicyContext): RestartDecision {
		return { workers: "restart", charge: "nothing", reason: cause };
	}

	onWorkerFailure({ cause, signal }: WorkerFailureContext): RestartDecision {
		const charge = signal === "SIGKILL" ? "node" : "run";
		return { workers: "restart", charge, reason: cause };
	}
}
