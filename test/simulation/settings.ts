import type { RestartPolicyStrategy } from "../../src/policies/strategy.js";
import type { RunSpec } from "../../src/rendezvous/records/run-spec.js";
import type { Random } from "./random.js";
import type { WorkerHabits } from "./sim-machine.js";
import { type PolicyKind, SIM_POLICIES } from "./sim-policies.js";

/** What a run is played with, beside what its agents agree on. */
export interface RunShape {
	readonly spec: RunSpec;
	readonly policy: PolicyKind;
	readonly shutdownTimeoutMs: number;
	readonly pauseTimeoutMs: number;
	readonly habits: WorkerHabits;
	/** Agents that start at the beginning. */
	readonly agents: number;
	/** The roles that agents are started with. */
	readonly roles: readonly string[];
	/** Writes in one transaction of a coordinator. */
	readonly batchSize: number;
	/** Agents that fail are started again, as a supervisor would do it. */
	readonly supervised: boolean;
	/** Whether watches tell some things twice. */
	readonly doublesHints: boolean;
}

/** As it is in earnest; some runs are played to a smaller scale, as if their jobs were large. */
const WHOLE_BATCH = 100;

export function someShape(random: Random): RunShape {
	const shutdownTimeoutMs = random.integer(1, 8) * 1_000;
	const policy = somePolicy(random);
	const spec = someSpec(random, shutdownTimeoutMs, policy);
	const { minNodes, maxNodes } = spec;
	const mayBeTooFew = random.chance(0.1);
	const toScale = random.chance(0.4);
	return {
		spec,
		policy,
		shutdownTimeoutMs,
		pauseTimeoutMs: random.integer(2, 15) * 1_000,
		habits: someHabits(random, SIM_POLICIES[policy].family === "soft"),
		agents: random.integer(mayBeTooFew ? 1 : minNodes, maxNodes + 2),
		roles: random.chance(0.6) ? ["default"] : ["trainer", "reader"],
		batchSize: toScale ? random.integer(2, 4) : WHOLE_BATCH,
		supervised: random.chance(0.4),
		doublesHints: true,
	};
}

/** What the agents of a run agree on. */
function someSpec(
	random: Random,
	shutdownTimeoutMs: number,
	policy: PolicyKind,
): RunSpec {
	const isLarge = random.chance(0.1);
	const maxNodes = isLarge ? random.integer(7, 10) : random.integer(1, 6);
	const strategy: RestartPolicyStrategy = SIM_POLICIES[policy].make();
	return {
		version: 1,
		minNodes: random.integer(1, random.integer(1, maxNodes)),
		maxNodes,
		policy,
		...(strategy.finishedNodes === "stay" && { finishedStay: true }),
		maxRestarts: random.integer(0, mostRestarts(policy)),
		joinTimeoutMs: random.integer(30, 60) * 1_000,
		lastCallTimeoutMs: random.integer(1, 8) * 1_000,
		settleTimeoutMs: shutdownTimeoutMs + 5_000,
		leaseTtlMs: random.pick([1, 2, 3, 5, 5, 5, 5, 10]) * 1_000,
		// In a third of the runs, without a draw of its own: other seeds play as before.
		...(shutdownTimeoutMs % 3_000 === 0 && {
			...{ maxIdenticalFailures: 3, restartDelayMaxMs: 2_000 },
		}),
	};
}

/** A node's own budget is spent sooner than the whole run's. */
function mostRestarts(policy: PolicyKind): number {
	const ownBudgets: readonly PolicyKind[] = [
		"charge-node",
		"soft",
		"soft-replace",
	];
	return ownBudgets.includes(policy) ? 2 : 8;
}

function somePolicy(random: Random): PolicyKind {
	const kinds: readonly [PolicyKind, number][] = [
		["hard", 0.35],
		["charge-node", 0.1],
		["by-exit-code", 0.1],
		["soft", 0.2],
		["soft-replace", 0.15],
		["pause-on-scale", 0.05],
	];
	let left = random.next();
	for (const [kind, part] of kinds) {
		left -= part;
		if (left < 0) return kind;
	}
	return "ignore";
}

/** How its workers behave while it is disturbed. */
function someHabits(random: Random, isSoft: boolean): WorkerHabits {
	const sometimes = (most: number) =>
		random.chance(0.5) ? random.between(0, most) : 0;
	const rarely = (most: number) =>
		random.chance(0.2) ? random.between(0, most) : 0;
	return {
		fails: sometimes(0.5),
		hangs: sometimes(0.5),
		ignoresTerm: sometimes(0.4),
		leavesChild: sometimes(0.3),
		cannotStart: sometimes(0.05),
		sticks: rarely(0.2),
		...(isSoft || random.chance(0.3)
			? {
					listens: random.chance(0.3) ? random.between(0.3, 1) : 1,
					neverAcknowledges: rarely(0.3),
					acknowledgesLate: sometimes(0.5),
					wishes: sometimes(0.8),
					diesOfPeers: sometimes(0.8),
					waitsForPeers: sometimes(1),
					endsHeld: sometimes(0.5),
					diskFull: rarely(0.1),
				}
			: NEVER_LISTENS),
		shortestMs: 500,
		longestMs: random.between(2_000, 80_000),
	};
}

/** What workers do that know nothing of the runtime library. */
export const NEVER_LISTENS = {
	listens: 0,
	neverAcknowledges: 0,
	acknowledgesLate: 0,
	wishes: 0,
	diesOfPeers: 0,
	waitsForPeers: 0,
	endsHeld: 0,
	diskFull: 0,
};

/** What is left of their habits once nothing disturbs the run: they end well, or hang and do nothing else. */
export function calmed(habits: WorkerHabits): WorkerHabits {
	return {
		...habits,
		fails: 0,
		cannotStart: 0,
		ignoresTerm: 0,
		leavesChild: 0,
		sticks: 0,
		neverAcknowledges: 0,
		acknowledgesLate: 0,
		wishes: 0,
		diesOfPeers: 0,
		endsHeld: 0,
		diskFull: 0,
	};
}
