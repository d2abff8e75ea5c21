import type { WorldChangeEvent } from "../channel/events.js";

/** A PAUSE that a worker has not acknowledged. */
export interface Pause {
	/** Its place in the worker's channel. */
	readonly event: number;
	/** The round that it ended. */
	readonly round: number;
	/** When the worker is given up. */
	readonly ackBy: number;
	/** When it is killed if it turns out that it cannot be told. */
	readonly killAt: number;
}

/** A round that a worker was told to leave, and may not have left yet, whatever it has acknowledged. */
export interface Lingering {
	readonly round: number;
	/** When it was told. */
	readonly since: number;
	/** Until when that is assumed. */
	readonly until: number;
}

/**
 * How a worker took a PAUSE that cost the others a round, and that the next one in its place
 * may take likewise: `silent` did not acknowledge it, nor any before; `died` ended as a failure,
 * `ended` with 0.
 */
export type PauseManner = "silent" | "died" | "ended";

/** One worker process of the round that this agent is in, or has been in. */
export interface WorkerSlot {
	readonly localRank: number;
	/** Null until it was spawned. */
	readonly pid: number | null;
	/**
	 * `paused`: its process is kept for the next round; `awaited`: it is told to pause, and
	 * its node not ready before it does; `exited`: its leader ended, others of its process
	 * group live on.
	 */
	readonly status: "running" | "awaited" | "paused" | "exited" | "gone";
	/** When it, or what is left of its group, is killed; null where it has not been told to end. */
	readonly killAt: number | null;
	/** When what even SIGKILL has not ended is given up; null before that kill. */
	readonly goneBy: number | null;
	/** How many events it has been sent, the first included. */
	readonly events: number;
	/** The newest of them that it has acknowledged; 0: none. */
	readonly heard: number;
	/** It has said HELLO: it listens to its channel. */
	readonly greeted: boolean;
	/** It has acknowledged a PAUSE, now or earlier. */
	readonly hasPaused: boolean;
	/** Why it was paused last: the WORK that ends a PAUSE says the same. */
	readonly change: WorldChangeEvent | null;
	/** The PAUSEs that it has not acknowledged, the oldest first. */
	readonly pauses: readonly Pause[];
	/** How one in its place took a PAUSE. */
	readonly manner: PauseManner | null;
	/** How long after its PAUSE one in its place had died. */
	readonly lateMs: number;
	/** Null where it has waited for work since, or was never told to pause. */
	readonly lingering: Lingering | null;
	/** When its node goes on without its word, though it is awaited; null: not before it is given up. */
	readonly awaitedUntil: number | null;
	/** When its wait for another round is taken for a wish; null where it does not wait. */
	readonly waitsUntil: number | null;
}

/** A worker that is about to be started, in the place of another one if that is given. */
export function freshSlot(localRank: number, former?: WorkerSlot): WorkerSlot {
	return {
		localRank,
		pid: null,
		status: "running",
		killAt: null,
		goneBy: null,
		events: 1,
		heard: 0,
		greeted: false,
		hasPaused: false,
		change: null,
		pauses: [],
		manner: former?.manner ?? null,
		lateMs: former?.lateMs ?? 0,
		lingering: null,
		awaitedUntil: null,
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

/** Whether it has been told to pause, and not to end since. */
export function isToldToPause({ status }: WorkerSlot): boolean {
	return status === "awaited" || status === "paused";
}

/** Whether its process is there, and may still listen and answer. */
export function isUp(worker: WorkerSlot): boolean {
	return worker.status === "running" || isToldToPause(worker);
}

/** Whether it was kept for this round, and has not heard of that yet. */
export function isUnawares({ events, heard }: WorkerSlot): boolean {
	return events > 1 && heard < events;
}

/** Whether it may still be in a round that it was told to leave, and die of what has ended that. */
export function lingeringIn(
	{ lingering }: WorkerSlot,
	now: number,
): Lingering | null {
	return lingering !== null && now < lingering.until ? lingering : null;
}

/** Whether it may die of what has ended an earlier round. */
export function hasNotGoneOn(worker: WorkerSlot, now: number): boolean {
	return isUnawares(worker) || lingeringIn(worker, now) !== null;
}

/** Whether one in its place has ended when the round after its PAUSE ran already. */
export function wasLate({ manner }: WorkerSlot): boolean {
	return manner === "died" || manner === "ended";
}

/** Whether it has been told to end. */
export function isEnding({ killAt, goneBy }: WorkerSlot): boolean {
	return killAt !== null || goneBy !== null;
}

/** When one of these workers has to be looked at next; Infinity: none of them. */
export function earliestOf(workers: readonly WorkerSlot[]): number {
	let earliest = Number.POSITIVE_INFINITY;
	const at = (deadline: number | null) => {
		if (deadline !== null && deadline < earliest) earliest = deadline;
	};
	for (const worker of workers) {
		if (worker.status === "gone") continue;
		at(worker.killAt);
		at(worker.goneBy);
		if (!isUp(worker)) continue;
		at(ackByOf(worker));
		at(worker.waitsUntil);
		at(worker.awaitedUntil);
	}
	return earliest;
}

/** By when it must have acknowledged its oldest PAUSE; null: it has. */
export function ackByOf({ pauses: [oldest] }: WorkerSlot): number | null {
	return oldest?.ackBy ?? null;
}

function localRanks(workers: readonly WorkerSlot[]): readonly number[] {
	return workers.map(({ localRank }) => localRank);
}
