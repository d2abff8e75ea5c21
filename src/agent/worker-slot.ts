import type { WorldChangeEvent } from "../channel/events.js";

/** A PAUSE that a worker was sent. */
export interface Pause {
	/** Its place in the worker's channel. */
	readonly event: number;
	/** Why the world changes; the WORK that ends the PAUSE says the same. */
	readonly change: WorldChangeEvent;
	/** When a worker that has not acknowledged it is given up; null once it has. */
	readonly ackBy: number | null;
}

/** One worker process of the round that this agent is in, or has been in. */
export interface WorkerSlot {
	readonly localRank: number;
	/** Null until it was spawned. */
	readonly pid: number | null;
	/**
	 * `paused`: its process is kept for the next round; `exited`: its leader ended,
	 * others of its process group live on.
	 */
	readonly status: "running" | "paused" | "exited" | "gone";
	/** When what is left of its group is killed; null where nothing has been told to end. */
	readonly killAt: number | null;
	/** When what even SIGKILL has not ended is given up; null before that kill. */
	readonly goneBy: number | null;
	/** How many events it has been sent, the first included. */
	readonly events: number;
	/** It has said HELLO: it listens to its channel. */
	readonly greeted: boolean;
	/** It has acknowledged a PAUSE, now or earlier. */
	readonly hasPaused: boolean;
	/** The newest PAUSE that it was sent. */
	readonly pause: Pause | null;
	/** When its wait for another round is taken for a wish; null where it does not wait. */
	readonly waitsUntil: number | null;
}

/** A worker that is about to be started. */
export function freshSlot(localRank: number): WorkerSlot {
	return {
		localRank,
		pid: null,
		status: "running",
		killAt: null,
		goneBy: null,
		events: 1,
		greeted: false,
		hasPaused: false,
		pause: null,
		waitsUntil: null,
	};
}

/** The local ranks whose processes may still be there. */
export function living(workers: readonly WorkerSlot[]): readonly number[] {
	return localRanks(workers.filter(({ status }) => status !== "gone"));
}

/** The local ranks whose processes may still be there, and are not kept for the next round. */
export function remaining(workers: readonly WorkerSlot[]): readonly number[] {
	return localRanks(
		workers.filter(({ status }) => status !== "gone" && status !== "paused"),
	);
}

/** The local ranks that are kept for the next round. */
export function paused(workers: readonly WorkerSlot[]): readonly number[] {
	return localRanks(workers.filter(({ status }) => status === "paused"));
}

/** When the first of these workers has to be looked at; undefined: none. */
export function deadlinesOf(
	workers: readonly WorkerSlot[],
): readonly (number | null)[] {
	return workers
		.filter(({ status }) => status !== "gone")
		.flatMap(({ killAt, goneBy, pause, waitsUntil }) => [
			killAt,
			goneBy,
			pause?.ackBy ?? null,
			waitsUntil,
		]);
}

function localRanks(workers: readonly WorkerSlot[]): readonly number[] {
	return workers.map(({ localRank }) => localRank);
}
