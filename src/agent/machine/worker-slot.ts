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

/** What an agent knows of a worker process of its present or last round, whatever its status. */
interface KnownWorker {
	readonly localRank: number;
	/** Null until it is spawned. */
	readonly pid: number | null;
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
	/**
	 * Until when its end counts as an end at its PAUSE: an acknowledgement alone may come from a listener, while the
	 * program still works. Null if it has waited for work since, or was never told to pause.
	 */
	readonly behindUntil: number | null;
	/** The newest round whose end is taken for the reason of a failure in its place; null if there is none. */
	readonly excusedIn: number | null;
	/** One ended with 0 at its PAUSE, when the next one ran: since then an acknowledgement alone is not enough. */
	readonly endedLate: boolean;
	/** It has read that its machine goes. */
	readonly noticed: boolean;
	/** It has saved what it wants to keep: since then it may be ended at any time. */
	readonly ready: boolean;
}

/** When a worker that was told to end is dealt with. */
interface Deadlines {
	/** When it, or the rest of its group, is killed; null if it was not told to end, or was killed. */
	readonly killAt: number | null;
	/** When a process that survives SIGKILL is given up; null before that kill. */
	readonly goneBy: number | null;
}

/** It works, or was told to end. */
export interface RunningWorker extends KnownWorker, Deadlines {
	readonly status: "running";
	/** When its wait for another round counts as a request for one; Infinity: never; null if it does not wait. */
	readonly waitsUntil: number | null;
}

/** It was told to pause, and has not left its round. */
export interface PausingWorker extends KnownWorker {
	readonly status: "pausing";
	readonly pause: Pause;
}

/** It has left its round, and its process is kept for the next one. */
export interface PausedWorker extends KnownWorker {
	readonly status: "paused";
}

/** Its leader ended; other processes of its group may live on. */
export interface ExitedWorker extends KnownWorker, Deadlines {
	readonly status: "exited";
	/** It has ended for a reason that is not known yet. */
	readonly unexplained: Unexplained | null;
}

/** Nothing is left of it. */
export interface GoneWorker extends KnownWorker {
	readonly status: "gone";
	readonly unexplained: Unexplained | null;
}

/** One worker process of the agent's present or last round. */
export type WorkerSlot =
	| RunningWorker
	| PausingWorker
	| PausedWorker
	| ExitedWorker
	| GoneWorker;

/** The slot of a worker that is about to start, perhaps in the place of another one. */
export function freshSlot(
	localRank: number,
	former?: WorkerSlot,
): RunningWorker {
	return {
		localRank,
		status: "running",
		pid: null,
		killAt: null,
		goneBy: null,
		events: 1,
		heard: 0,
		attached: false,
		hasPaused: false,
		change: null,
		behindUntil: null,
		excusedIn: former?.excusedIn ?? null,
		endedLate: former?.endedLate ?? false,
		noticed: false,
		ready: false,
		waitsUntil: null,
	};
}

/** What stays when the status changes. */
export function knownOf(worker: WorkerSlot): KnownWorker {
	const { localRank, pid, events, heard, attached } = worker;
	const { hasPaused, change, behindUntil, excusedIn, endedLate } = worker;
	const { noticed, ready } = worker;
	return {
		...{ localRank, pid, events, heard, attached, noticed, ready },
		...{ hasPaused, change, behindUntil, excusedIn, endedLate },
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
export function isToldToPause(
	worker: WorkerSlot,
): worker is PausingWorker | PausedWorker {
	return worker.status === "pausing" || worker.status === "paused";
}

/** Whether it was told to pause, and has not left its round. */
export function isPausing(worker: WorkerSlot): worker is PausingWorker {
	return worker.status === "pausing";
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
export function hasHeard({ pause, heard }: PausingWorker): boolean {
	return heard >= pause.event;
}

/** The death whose reason is not known yet; null if there is none. */
export function unexplainedOf(worker: WorkerSlot): Unexplained | null {
	return "unexplained" in worker ? worker.unexplained : null;
}

/** Whether it has ended for a reason that is not known yet. */
export function isUnexplained(worker: WorkerSlot): boolean {
	return unexplainedOf(worker) !== null;
}

/** Both null if it was not told to end. */
export function deadlinesOf(worker: WorkerSlot): Deadlines {
	return "killAt" in worker ? worker : { killAt: null, goneBy: null };
}

/** Whether it was told to end. */
export function isEnding(worker: WorkerSlot): boolean {
	const { killAt, goneBy } = deadlinesOf(worker);
	return killAt !== null || goneBy !== null;
}

/**
 * Whether it may still work, or save, before its machine goes. One that is paused may save, too: it cannot know whether any
 * other node stays to go on from its step.
 */
export function isHeld(worker: WorkerSlot): boolean {
	const isHere = worker.status !== "exited" && worker.status !== "gone";
	return isHere && !worker.ready && !isEnding(worker);
}

function localRanks(workers: readonly WorkerSlot[]): readonly number[] {
	return workers.map(({ localRank }) => localRank);
}
