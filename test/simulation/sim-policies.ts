import {
	HardRestartPolicyStrategy,
	SoftReplaceRestartPolicyStrategy,
	SoftRestartPolicyStrategy,
} from "../../src/policies/built-in.js";
import type {
	PolicyContext,
	RestartDecision,
	RestartPolicyStrategy,
	WorkerFailureContext,
} from "../../src/policies/strategy.js";

/** Exit codes of workers that "by-exit-code" gives a meaning. */
const EXITS = { leave: 2, failRun: 3 } as const;

/** Every failure is charged to the node whose worker failed. */
class ChargeNode extends HardRestartPolicyStrategy {
	override readonly name = "charge-node";

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

/** Changes of the world pause; a failure ends the node's workers, and the run pays. */
class PauseOnScale extends HardRestartPolicyStrategy {
	override onScaleUp({ cause }: PolicyContext): RestartDecision {
		return { workers: "pause", charge: "nothing", reason: cause };
	}

	override onScaleDown({ cause }: PolicyContext): RestartDecision {
		return { workers: "pause", charge: "nothing", reason: cause };
	}
}

/** The others go on without a worker that has failed. */
class Ignore extends SoftRestartPolicyStrategy {
	override readonly name = "ignore";

	override onWorkerFailure({ cause }: WorkerFailureContext): RestartDecision {
		return { workers: "ignore", charge: "nothing", reason: cause };
	}
}

/** Policies that promise the same of their workers' processes. */
export type PolicyFamily =
	/** A round's end is the end of its processes. */
	| "hard"
	/** Who survives a change of the world keeps its process. */
	| "soft";

interface SimPolicy {
	readonly family: PolicyFamily;
	readonly make: () => RestartPolicyStrategy;
}

/** The policies that runs are played with. */
export const SIM_POLICIES = {
	hard: { family: "hard", make: () => new HardRestartPolicyStrategy() },
	"charge-node": { family: "hard", make: () => new ChargeNode() },
	"by-exit-code": { family: "hard", make: () => new ByExitCode() },
	soft: { family: "soft", make: () => new SoftRestartPolicyStrategy() },
	"soft-replace": {
		family: "soft",
		make: () => new SoftReplaceRestartPolicyStrategy(),
	},
	"pause-on-scale": { family: "soft", make: () => new PauseOnScale() },
	ignore: { family: "soft", make: () => new Ignore() },
} satisfies Record<string, SimPolicy>;

export type PolicyKind = keyof typeof SIM_POLICIES;
