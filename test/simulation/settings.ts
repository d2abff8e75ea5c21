import type { RunSpec } from "../../src/rendezvous/records.js";
import type { Random } from "./random.js";
import type { WorkerHabits } from "./sim-workers.js";

/** What the agents of a run agree on. */
export function someSpec(random: Random, shutdownTimeoutMs: number): RunSpec {
	const maxNodes = random.integer(1, 6);
	return {
		version: 1,
		minNodes: random.integer(1, random.integer(1, maxNodes)),
		maxNodes,
		policy: "hard",
		maxRestarts: random.integer(0, 8),
		joinTimeoutMs: random.integer(30, 60) * 1_000,
		lastCallTimeoutMs: random.integer(1, 8) * 1_000,
		settleTimeoutMs: shutdownTimeoutMs + 5_000,
		leaseTtlMs: 5_000,
	};
}

/** How its workers behave while it is disturbed. */
export function someHabits(random: Random): WorkerHabits {
	const sometimes = (most: number) =>
		random.chance(0.5) ? random.between(0, most) : 0;
	return {
		fails: sometimes(0.5),
		hangs: sometimes(0.5),
		ignoresTerm: sometimes(0.4),
		leavesChild: sometimes(0.3),
		cannotStart: sometimes(0.05),
		shortestMs: 500,
		longestMs: random.between(2_000, 80_000),
	};
}
