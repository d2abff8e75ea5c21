import type { RunSpec } from "../../src/rendezvous/records.js";
import type { Random } from "./random.js";
import type { WorkerHabits } from "./sim-machine.js";
import type { PolicyKind } from "./sim-policies.js";

/** What a run is played with, beside what its agents agree on. */
export interface RunShape {
	readonly spec: RunSpec;
	readonly policy: PolicyKind;
	readonly shutdownTimeoutMs: number;
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
		habits: someHabits(random),
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
	return {
		version: 1,
		minNodes: random.integer(1, random.integer(1, maxNodes)),
		maxNodes,
		policy,
		// A node's own budget is spent sooner than the whole run's.
		maxRestarts: random.integer(0, policy === "charge-node" ? 2 : 8),
		joinTimeoutMs: random.integer(30, 60) * 1_000,
		lastCallTimeoutMs: random.integer(1, 8) * 1_000,
		settleTimeoutMs: shutdownTimeoutMs + 5_000,
		leaseTtlMs: random.pick([1, 2, 3, 5, 5, 5, 5, 10]) * 1_000,
	};
}

function somePolicy(random: Random): PolicyKind {
	if (random.chance(0.6)) return "hard";
	return random.chance(0.5) ? "charge-node" : "by-exit-code";
}

/** How its workers behave while it is disturbed. */
function someHabits(random: Random): WorkerHabits {
	const sometimes = (most: number) =>
		random.chance(0.5) ? random.between(0, most) : 0;
	return {
		fails: sometimes(0.5),
		hangs: sometimes(0.5),
		ignoresTerm: sometimes(0.4),
		leavesChild: sometimes(0.3),
		cannotStart: sometimes(0.05),
		sticks: random.chance(0.2) ? random.between(0, 0.2) : 0,
		shortestMs: 500,
		longestMs: random.between(2_000, 80_000),
	};
}

/** What is left of their habits once nothing disturbs the run: they end well, or hang and do nothing else. */
export function calmed(habits: WorkerHabits): WorkerHabits {
	return {
		...habits,
		fails: 0,
		cannotStart: 0,
		ignoresTerm: 0,
		leavesChild: 0,
		sticks: 0,
	};
}
