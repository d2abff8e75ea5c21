import { HardRestartPolicyStrategy } from "../../src/policies/hard-restart-policy.js";
import type {
	RestartDecision,
	RestartPolicyStrategy,
	WorkerFailureContext,
} from "../../src/policies/strategy.js";

/** Exit codes of workers that "by-exit-code" gives a meaning. */
export const EXITS = { leave: 2, failRun: 3 } as const;

/** Every failure is charged to the node whose worker failed. */
class ChargeNode extends HardRestartPolicyStrategy {
	override onWorkerFailure({ cause }: WorkerFailureContext): RestartDecision {
		return { workers: "restart", charge: "node", reason: cause };
	}
}

/** Some failures end this node's part in the run, or the run. */
class ByExitCode extends HardRestartPolicyStrategy {
	override onWorkerFailure(context: WorkerFailureContext): RestartDecision {
		const reason = context.cause;
		switch (context.exitCode) {
			case EXITS.leave:
				return { workers: "leave", charge: "nothing", reason };
			case EXITS.failRun:
				return { workers: "fail-run", charge: "nothing", reason };
			default:
				return super.onWorkerFailure(context);
		}
	}
}

/** Policies that promise the same of their workers' processes. */
export type PolicyFamily =
	/** A round's end is the end of its processes. */
	"hard";

interface SimPolicy {
	readonly family: PolicyFamily;
	readonly make: () => RestartPolicyStrategy;
}

/** The policies that runs are played with. */
export const SIM_POLICIES = {
	hard: { family: "hard", make: () => new HardRestartPolicyStrategy() },
	"charge-node": { family: "hard", make: () => new ChargeNode() },
	"by-exit-code": { family: "hard", make: () => new ByExitCode() },
} satisfies Record<string, SimPolicy>;

export type PolicyKind = keyof typeof SIM_POLICIES;
