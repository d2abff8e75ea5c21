import type { WorldChangeEvent } from "../../channel/events.js";
import type { AgentInput } from "./inputs.js";

/** A PAUSE that a worker has not acknowledged. */
export interface Pause {
	/** Its sequence in the worker's channel. */
	readonly event: number;
	/** The round that it ended. */
	readonly round: number;
	/** When the worker is given up. */
	readonly ackBy: number;
	/** When it is killed if it turns out that it cannot be told. */
	readonly killAt: number;
	/** When the user is warned that no answer has come; null: no warning. */
	readonly hintAt: number | null;
}

/** A round that a worker was told to leave and may not have left, whatever it has acknowledged. */
export interface Lingering {
	readonly round: number;
	/** When it was told. */
	readonly since: number;
	/** Until when that is assumed. */
	readonly until: number;
}

/**
 * How a worker reacted to a PAUSE that cost the others a round, as the next one in its place may: `silent` never
 * acknowledged one, `died` ended as a failure, `ended` with 0.
 */
export type PauseManner = "silent" | "died" | "ended";

/** A death of SIGTERM or SIGINT that this launcher did not send. */
export interface Unexplained {
	readonly exit: AgentInput & { kind: "worker-exited" };
	readonly since: number;
	/** When it counts as a failure, unless this agent is told to stop, or its round to end. */
	readonly until: number;
}

/** One worker process of the agent's present or last round. */
export interface WorkerSlot {
	readonly localRank: number;
	/** Null until it is spawned. */
	readonly pid: number | null;
	/**
	 * `paused`: its process is kept for the next round; `awaited`: it was told to pause, and its node is not ready before
	 * it does; `exited`: its leader ended, other processes of its group live on.
	 */
	readonly status: "running" | "awaited" | "paused" | "exited" | "gone";
	/** When it, or the rest of its group, is killed; null if it was not told to end. */
	readonly killAt: number | null;
	/** When a process that survives SIGKILL is given up; null before that kill. */
	readonly goneBy: number | null;
	/** How many events it was sent, including the first. */
	readonly events: number;
	/** The newest event that it has acknowledged; 0 if none. */
	readonly heard: number;
	/** It has said HELLO: it listens to its channel. */
	readonly attached: boolean;
	/** It has acknowledged a PAUSE, now or earlier. */
	readonly hasPaused: boolean;
	/** The reason of its last PAUSE, repeated in the WORK that ends it. */
	readonly change: WorldChangeEvent | null;
	/** The PAUSEs that it has not acknowledged, oldest first. */
	readonly pauses: readonly Pause[];
	/** How an earlier worker in its place reacted to a PAUSE. */
	readonly manner: PauseManner | null;
	/** How long after its PAUSE that worker had died. */
	readonly lateMs: number;
	/** Null if it has waited for work since, or was never told to pause. */
	readonly lingering: Lingering | null;
	/** When its node stops waiting for it; null: only when it is given up. */
	readonly awaitedUntil: number | null;
	/** When its wait for another round counts as a wish; Infinity: never; null if it does not wait. */
	readonly waitsUntil: number | null;
	/** It has ended for a reason that is not known yet. */
	readonly unexplained: Unexplained | null;
}

/** The slot of a worker that is about to start, perhaps in the place of another one. */
export function freshSlot(localRank: number, former?: WorkerSlot): WorkerSlot {
	return {
		localRank,
		pid: null,
		status: "running",
		killAt: null,
		goneBy: null,
		events: 1,
		heard: 0,
		attached: false,
		hasPaused: false,
		change: null,
		pauses: [],
		manner: former?.manner ?? null,
		lateMs: former?.lateMs ?? 0,
		lingering: null,
		awaitedUntil: null,
		waitsUntil: null,
		unexplained: null,
	};
}

/** The local ranks whose processes may still exist. */
export function living(workers: readonly WorkerSlot[]): readonly number[] {
	return localRanks(workers.filter(({ status }) => status !== "gone"));
}

/** The local ranks whose processes may still exist and are not kept for the next round. */
export function remaining(workers: readonly WorkerSlot[]): readonly number[] {
	return localRanks(
		workers.filter(({ status }) => status !== "gone" && status !== "paused"),
	);
}

/** The local ranks that are kept for the next round. */
export function paused(workers: readonly WorkerSlot[]): readonly number[] {
	return localRanks(workers.filter(({ status }) => status === "paused"));
}

/** Whether it was told to pause, and not told to end since. */
export function isToldToPause({ status }: WorkerSlot): boolean {
	return status === "awaited" || status === "paused";
}

/** Whether its process exists and may still answer. */
export function isUp(worker: WorkerSlot): boolean {
	return worker.status === "running" || isToldToPause(worker);
}

/** Whether it was kept for this round and has not heard of that yet. */
export function hasUnackedEvent({ events, heard }: WorkerSlot): boolean {
	return events > 1 && heard < events;
}

/** Whether it may still be in a round that it was told to leave, and die of what ended that. */
export function lingeringIn(
	{ lingering }: WorkerSlot,
	now: number,
): Lingering | null {
	return lingering !== null && now < lingering.until ? lingering : null;
}

/** Whether it may die of what ended an earlier round. */
export function hasNotGoneOn(worker: WorkerSlot, now: number): boolean {
	return hasUnackedEvent(worker) || lingeringIn(worker, now) !== null;
}

/** Whether an earlier worker in its place ended after the round that followed its PAUSE had begun. */
export function wasLate({ manner }: WorkerSlot): boolean {
	return manner === "died" || manner === "ended";
}

/** Whether it has ended for a reason that is not known yet. */
export function isUnexplained({ unexplained }: WorkerSlot): boolean {
	return unexplained !== null;
}

/** Whether it was told to end. */
export function isEnding({ killAt, goneBy }: WorkerSlot): boolean {
	return killAt !== null || goneBy !== null;
}

/** When one of these workers needs attention next; Infinity: none does. */
export function earliestOf(workers: readonly WorkerSlot[]): number {
	let earliest = Number.POSITIVE_INFINITY;
	const at = (deadline: number | null) => {
		if (deadline !== null && deadline < earliest) earliest = deadline;
	};
	for (const worker of workers) {
		at(worker.unexplained?.until ?? null);
		if (worker.status === "gone") continue;
		at(worker.killAt);
		at(worker.goneBy);
		if (!isUp(worker)) continue;
		at(ackByOf(worker));
		at(hintAtOf(worker));
		at(worker.waitsUntil);
		at(worker.awaitedUntil);
	}
	return earliest;
}

/** By when it must have acknowledged its oldest PAUSE; null if it has. */
export function ackByOf({ pauses: [oldest] }: WorkerSlot): number | null {
	return oldest?.ackBy ?? null;
}

/** When the user is warned that its first PAUSE has no answer; null: no warning, or already warned. */
export function hintAtOf({ pauses: [oldest] }: WorkerSlot): number | null {
	return oldest?.hintAt ?? null;
}

function localRanks(workers: readonly WorkerSlot[]): readonly number[] {
	return workers.map(({ localRank }) => localRank);
}
