/*
 * One worker of a node: what is known of its process, and how that changes.
 *
 *   status  | attached | acknowledged   | waits          | exited | gone | pause   | work    | end     | kill
 *   --------|----------|----------------|----------------|--------|------|---------|---------|---------|--------
 *   running | running  | running        | running        | exited | gone | pausing | -       | running | running
 *   pausing | pausing  | pausing paused | pausing paused | exited | gone | -       | -       | running | running
 *   paused  | paused   | paused         | paused         | exited | gone | -       | running | running | running
 *   exited  | exited   | exited         | exited         | exited | gone | -       | -       | exited  | exited
 *   gone    | gone     | gone           | gone           | gone   | gone | -       | -       | gone    | gone
 *
 * The first five columns are what is heard of a worker, the others what its node decides. One with a `killAt` or a
 * `goneBy` ends.
 *
 *   at PAUSE, a worker that               | has left its round when             | if it has not after --pause-timeout
 *   --------------------------------------|-------------------------------------|------------------------------------
 *   never said HELLO                      | it is gone: it is ended at once     | -
 *   never acknowledged a PAUSE            | it acknowledges this one            | it is started again, not charged
 *   acknowledged one before               | it acknowledges this one            | it has failed
 *   follows one that ended with 0 at      | it acknowledges this one, and waits | it is started again, not charged
 *   PAUSE, when the next round ran        | for work                            |
 */

import type { WorldChangeEvent } from "../../channel/index.js";
import type { Trace } from "../../failures/index.js";
import type { RuleCause } from "../../policies/index.js";
import type { WorkerExit } from "../../processes/index.js";
import type { WorkerError } from "../../status/index.js";

/** How long a worker may wait for another round before its wait counts as a request, in milliseconds. */
export const REQUEST_AFTER_MS = 2_000;
/** How long a first PAUSE may be unanswered before the user is warned, in milliseconds: longer than most steps. */
export const HINT_AFTER_MS = 5_000;
/** How long a killed process may take to vanish before it is given up, in milliseconds … */
export const UNKILLABLE_AFTER_MS = 5_000;
/** … the last part only while its agent is awake: one that was stopped hears its timers before what was said meanwhile. */
export const NEWS_MS = 2_000;

/** A worker that has failed or ended, as the agent's shell describes it. */
export interface Described {
	readonly localRank: number;
	readonly pid: number | null;
	readonly description: string;
	/** What it probably means. */
	readonly hint?: string | undefined;
	readonly error?: WorkerError | undefined;
	/** The last lines of its stderr, if there is no error file. */
	readonly lastLines?: string | undefined;
	/** Its uncaught exception, as far as it is known. */
	readonly trace?: Trace | undefined;
	/** Its last step in this round; undefined if it has made none. */
	readonly step?: number | undefined;
	readonly startedWarm?: boolean | undefined;
	/** What was found out before it was killed, in at most five lines. */
	readonly evidence?: readonly string[] | undefined;
	/** How long it has been up, if its process has not ended and that is known, in milliseconds. */
	readonly uptimeMs?: number | undefined;
	/** Its node is not known to be at fault: the worker stands for its round. */
	readonly isUnattributed?: boolean | undefined;
	/**
	 * Why it failed, for rules; undefined: it ended by itself. `slow`: it computes or reads, though it makes no step; `start`:
	 * it could not be started, and has no pid, or has not made its first step; `crash`: it has not ended after its exception.
	 */
	readonly cause?: RuleCause | undefined;
}

/** The end of a worker's leader process. */
export interface WorkerExited extends Described {
	readonly exit: WorkerExit;
	/** 128 + n for signal n. */
	readonly exitCode: number;
	/** Other processes of its group live on. */
	readonly groupRemains: boolean;
}

/** A PAUSE after which a worker has not left its round. */
export interface Pause {
	/** Its sequence in the worker's channel. */
	readonly event: number;
	/** When the worker is given up. */
	readonly leaveBy: number;
	/** When it is killed if it turns out that it cannot be notified. */
	readonly killAt: number;
	/** When the user is warned that no answer has come; null: no warning. */
	readonly hintAt: number | null;
}

/** A death of SIGTERM or SIGINT that this launcher did not send. */
export interface Unexplained {
	readonly exit: WorkerExited;
	readonly since: number;
	/** When it counts as a failure, unless this agent is asked to stop, or its round ends. */
	readonly until: number;
}

/**
 * `running`: it works, or must end. `pausing`: it was sent a PAUSE, and has not left its round. `paused`: it has, and its
 * process is kept for the next one. `exited`: its leader has ended, and others of its group may live on. `gone`: nothing is
 * left of it.
 */
export type WorkerStatus = "running" | "pausing" | "paused" | "exited" | "gone";

/** One worker process of the agent's present or last round. */
export interface WorkerSlot {
	readonly localRank: number;
	readonly status: WorkerStatus;
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
	readonly pause: Pause | null;
	/**
	 * Until when its end counts as an end at its PAUSE: an acknowledgement alone may come from a listener, while the
	 * program still works. Null if it has waited for work since, or was never sent a PAUSE.
	 */
	readonly behindUntil: number | null;
	/** When its wait for another round counts as a request for one; Infinity: never; null if it does not wait. */
	readonly waitsUntil: number | null;
	/** The newest round whose end is taken for the reason of a failure in its place; null if there is none. */
	readonly excusedIn: number | null;
	/** One ended with 0 at its PAUSE, when the next one ran: since then an acknowledgement alone is not enough. */
	readonly endedLate: boolean;
	/** It has read that its machine goes. */
	readonly noticed: boolean;
	/** It has saved what it wants to keep: since then it may be ended at any time. */
	readonly ready: boolean;
	/** When it, or the rest of its group, is killed; null if it need not end, or was killed. */
	readonly killAt: number | null;
	/** When a process that survives SIGKILL is heard out, or after that given up; null before that kill. */
	readonly goneBy: number | null;
	readonly isHeardOut: boolean;
	/** How many times it was sent SIGKILL. */
	readonly kills: number;
	/** It has failed, and the others go on without it. */
	readonly ignored?: true;
	/** It has ended for a reason that is not known yet. */
	readonly unexplained: Unexplained | null;
}

/** The slot of a worker that is about to start, perhaps in the place of another one. */
export function freshSlot(localRank: number, former?: WorkerSlot): WorkerSlot {
	return {
		localRank,
		status: "running",
		pid: null,
		events: 1,
		heard: 0,
		attached: false,
		hasPaused: false,
		change: null,
		pause: null,
		behindUntil: null,
		waitsUntil: null,
		excusedIn: former?.excusedIn ?? null,
		endedLate: former?.endedLate ?? false,
		noticed: false,
		ready: false,
		killAt: null,
		goneBy: null,
		isHeardOut: false,
		kills: 0,
		unexplained: null,
	};
}

export const isGone = ({ status }: WorkerSlot) => status === "gone";
export const isPaused = ({ status }: WorkerSlot) => status === "paused";

/** Whether it must end, or leave its round, before the next one. */
export const isRemaining = (worker: WorkerSlot) =>
	!isGone(worker) && !isPaused(worker);

/** Whether it was sent a PAUSE, and need not end. */
export const isKept = (worker: WorkerSlot) =>
	worker.pause !== null || isPaused(worker);

/** Whether it must end. */
export const isEnding = ({ killAt, goneBy }: WorkerSlot) =>
	killAt !== null || goneBy !== null;

export const isUnexplained = ({ unexplained }: WorkerSlot) =>
	unexplained !== null;

/** Whether it was kept for this round and has not acknowledged that yet. */
export const hasUnackedEvent = ({ events, heard }: WorkerSlot) =>
	events > 1 && heard < events;

/** Whether its end belongs to what ended the round before. */
export function isBehind(worker: WorkerSlot, now: number): boolean {
	const { behindUntil } = worker;
	return hasUnackedEvent(worker) || (behindUntil !== null && now < behindUntil);
}

/**
 * Whether it may still work, or save, before its machine goes. One that is paused may save, too: it cannot know whether any
 * other node stays to go on from its step.
 */
export function isHeld(worker: WorkerSlot): boolean {
	const isHere = worker.status !== "exited" && worker.status !== "gone";
	return isHere && !worker.ready && !isEnding(worker);
}

export function isDue(deadline: number | null, now: number): boolean {
	return deadline !== null && now >= deadline;
}

export function localRanks(workers: readonly WorkerSlot[]): readonly number[] {
	return workers.map(({ localRank }) => localRank);
}

export function update(
	workers: readonly WorkerSlot[],
	localRank: number,
	change: (worker: WorkerSlot) => WorkerSlot,
): readonly WorkerSlot[] {
	return workers.map((worker) =>
		worker.localRank === localRank ? change(worker) : worker,
	);
}

/** It neither pauses nor waits any more. */
const WITHOUT_ROUND = { pause: null, waitsUntil: null };

/**
 * The leader ended; the rest of its group is killed at `killAt`, unless it must end anyway. A worker that was given up
 * stays so, whatever is heard of it.
 */
export function toExited(
	worker: WorkerSlot,
	{ groupRemains }: Pick<WorkerExited, "groupRemains">,
	wanted: number | null,
): WorkerSlot {
	if (isGone(worker)) return worker;
	const killAt = worker.killAt ?? (groupRemains ? wanted : null);
	return { ...worker, ...WITHOUT_ROUND, status: "exited", killAt };
}

export function toGone(worker: WorkerSlot): WorkerSlot {
	const done = { killAt: null, goneBy: null };
	return { ...worker, ...WITHOUT_ROUND, ...done, status: "gone" };
}

/** It has acknowledged an event, and all before it. */
export function toHeard(worker: WorkerSlot, event: number): WorkerSlot {
	return toLeft({ ...worker, heard: Math.max(worker.heard, event) });
}

/** A worker that waits for work has left the round that its PAUSE was about. */
export function toNotBehind(worker: WorkerSlot): WorkerSlot {
	return toLeft({ ...worker, behindUntil: null });
}

/** A pausing worker has left its round when it has acknowledged its PAUSE; after `endedLate` when it waits for work. */
function toLeft(worker: WorkerSlot): WorkerSlot {
	const { pause, heard, endedLate, behindUntil } = worker;
	if (pause === null || heard < pause.event) return worker;
	const left = { ...worker, hasPaused: true };
	return endedLate && behindUntil !== null
		? { ...left, pause: { ...pause, hintAt: null } }
		: { ...left, status: "paused", pause: null };
}

/** It waits for another round than the one that it works in, and requests one then; null: it does not wait. */
export function toWaiting(
	worker: WorkerSlot,
	waitsUntil: number | null,
): WorkerSlot {
	return worker.status === "running" ? { ...worker, waitsUntil } : worker;
}

/** It must end by `latest`, or by an earlier deadline: nothing else is expected of it. */
export function toEnd(worker: WorkerSlot, latest: number): WorkerSlot {
	const known = { ...worker, unexplained: null };
	if (isGone(worker)) return known;
	const killAt =
		worker.goneBy === null
			? Math.min(worker.killAt ?? latest, latest)
			: worker.killAt;
	return { ...known, ...WITHOUT_ROUND, status: endingAs(worker), killAt };
}

/** It is sent SIGKILL. */
export function toKilled(worker: WorkerSlot, now: number): WorkerSlot {
	if (isGone(worker)) return worker;
	const status = endingAs(worker);
	const killed = withKill({ ...worker, ...WITHOUT_ROUND, status });
	const goneBy = now + UNKILLABLE_AFTER_MS - NEWS_MS;
	return { ...killed, killAt: null, goneBy, isHeardOut: false };
}

function endingAs({ status }: WorkerSlot): WorkerStatus {
	return status === "exited" ? status : "running";
}

/** SIGKILL, and nothing else changes. */
export function withKill(worker: WorkerSlot): WorkerSlot {
	return { ...worker, kills: worker.kills + 1 };
}

/** It is sent a PAUSE. A worker that waits already has left its round. */
export function toPausing(
	worker: WorkerSlot,
	change: WorldChangeEvent,
	times: Pick<Pause, "leaveBy" | "killAt">,
	now: number,
): WorkerSlot {
	const { hasPaused, waitsUntil } = worker;
	const event = worker.events + 1;
	const hintAt = now + HINT_AFTER_MS;
	const mayBeDeaf = !hasPaused && waitsUntil === null;
	const isHinted = mayBeDeaf && hintAt < times.leaveBy;
	return {
		...worker,
		status: "pausing",
		events: event,
		change,
		pause: { ...times, event, hintAt: isHinted ? hintAt : null },
		behindUntil: waitsUntil === null ? times.leaveBy : null,
		waitsUntil: null,
	};
}

/** It is sent WORK: its PAUSE is over. */
export function toWorking(worker: WorkerSlot): WorkerSlot {
	return { ...worker, status: "running", events: worker.events + 1 };
}

/** It works on in the next round, with an event that needs no acknowledgement. */
export function toNextRound(
	worker: WorkerSlot,
	change: WorldChangeEvent,
): WorkerSlot {
	const events = worker.events + 1;
	return { ...worker, events, heard: events, change, waitsUntil: null };
}

/** With other times for its PAUSE, if it has not left its round. */
export function withTimes(
	worker: WorkerSlot,
	times: Partial<Pick<Pause, "leaveBy" | "hintAt">>,
): WorkerSlot {
	const { pause } = worker;
	return pause === null ? worker : { ...worker, pause: { ...pause, ...times } };
}

/** When it needs attention next; Infinity: never. */
export function attentionAt(worker: WorkerSlot): number {
	const { killAt, goneBy, waitsUntil, pause, unexplained } = worker;
	const times = [killAt, goneBy, waitsUntil, unexplained?.until];
	return [...times, pause?.leaveBy, pause?.hintAt].reduce<number>(
		(earliest, at) => Math.min(earliest, at ?? earliest),
		Number.POSITIVE_INFINITY,
	);
}
