import type { Link } from "./link.js";
import type { Moment } from "./observer.js";
import type { Random } from "./random.js";
import type { SimAgent } from "./sim-agent.js";
import type { StoreInTrouble } from "./troubled-store.js";

/** What a fault may do to a run. */
export interface FaultyRun {
	readonly random: Random;
	readonly store: StoreInTrouble;
	/** The time to live of its leases, in milliseconds. */
	readonly leaseTtlMs: number;
	living(): readonly SimAgent[];
	/** The living agent that coordinates as the store says. */
	coordinator(): SimAgent | undefined;
	/** Starts an agent, of a node that is new or whose process has ended (or is frozen). */
	startAgent(nodeId?: string): void;
	/** The id of a node that has had no agent. */
	newNode(): string;
	after(delayMs: number, act: () => void): void;
	/** At the next such moment, with the agent that brings it about. */
	at(moment: Moment, act: (by: SimAgent) => void): void;
	/** Spoils an agent's way to the store for a time. */
	disturb(agent: SimAgent, durationMs: number, change: Partial<Link>): void;
}

/** One kind of fault, done to an agent that lives. */
export type Fault = (run: FaultyRun, agent: SimAgent) => void;

/** Longer than a lease lives, or shorter. */
export function aWhile({ random, leaseTtlMs }: FaultyRun): number {
	return random.chance(0.5)
		? random.between(100, 0.8 * leaseTtlMs)
		: random.between(0.8 * leaseTtlMs, 2.4 * leaseTtlMs);
}

/** After this time somebody starts the agent's node again. */
export function startAgain(
	run: FaultyRun,
	agent: SimAgent,
	latestMs: number,
): void {
	run.after(run.random.between(50, latestMs), () =>
		run.startAgent(agent.history.nodeId),
	);
}
