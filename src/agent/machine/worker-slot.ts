import type { WorldChangeEvent } from "../../channel/events.js";
import type { AgentInput } from "./inputs.js";

/** A PAUSE after which a worker has not left its round. */
export interface Pause {
	/** Its sequence in the worker's channel. */
	readonly event: number;
	/** When the worker is given up. */
	readonly leaveBy: number;
	/** When it is killed if it turns out that it cannot be told. */
	readonly killAt: number;
	/** When the user is warned that no answer has come; null: no warning. */
	readonly hintAt: number | null;
}

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
	 * `pausing`: it was told to pause, and has not left its round; `paused`: it has, and its process is kept for the next
	 * round; `exited`: its leader ended, other processes of its group live on.
	 */
	readonly status: "running" | "pausing" | "paused" | "exited" | "gone";
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
	/** The PAUSE that it has not left its round after; null if it is not pausing. */
	readonly pause: Pause | null;
	/**
	 * Until when its end counts as an end at its PAUSE: an acknowledgement alone may come from a listener, while the
	 * program still works. Null if it has waited for work since, or was never told to pause.
	 */
	readonly behindUntil: number | null;
	/** The newest round whose end is taken for the reason of a failure in its place; null if there is none. */
	readonly excusedIn: number | null;
	/** One ended with 0 at its PAUSE, when the next one ran: since then an acknowledgement alone is not enough. */
	readonly endedLate: boolean;
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
		pause: null,
		behindUntil: null,
		excusedIn: former?.excusedIn ?? null,
		endedLate: former?.endedLate ?? false,
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
	return status === "pausing" || status === "paused";
}

/** Whether its process exists and may still answer. */
export function isUp(worker: WorkerSlot): boolean {
	return worker.status === "running" || isToldToPause(worker);
}

/** Whether it was kept for this round and has not heard of that yet. */
export function hasUnackedEvent({ events, heard }: WorkerSlot): boolean {
	return events > 1 && heard < events;
}

/** Whether its end belongs to what ended the round before. */
export function isBehind(worker: WorkerSlot, now: number): boolean {
	const { behindUntil } = worker;
	return hasUnackedEvent(worker) || (behindUntil !== null && now < behindUntil);
}

/** Whether it has acknowledged its PAUSE. */
export function hasHeard({ pause, heard }: WorkerSlot): boolean {
	return pause !== null && heard >= pause.event;
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
		at(worker.pause?.leaveBy ?? null);
		at(worker.pause?.hintAt ?? null);
		at(worker.waitsUntil);
	}
	return earliest;
}

function localRanks(workers: readonly WorkerSlot[]): readonly number[] {
	return workers.map(({ localRank }) => localRank);
}
