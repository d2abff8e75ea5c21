/**
 * The runtime library: it tells a worker its place in the world and the rounds to come, and reports the worker's progress
 * to its agent.
 *
 * It needs no package and opens nothing until it is called. It keeps the process alive only during `waitForWork` or while
 * `workerEvents` waits for the next event: a worker that waits must not end as if it had succeeded. To follow events in
 * the background, use `onWorkerEvent`, which never keeps it alive.
 *
 * Child processes and threads that inherit ELASTIC_RUN_CHANNEL are part of the worker: whatever one of them receives or
 * reports counts as the worker's. Start a child without that variable if it must not speak for the worker.
 *
 * A process that another launcher has started with torchrun's variables gets its place from these, as the one event that
 * it will ever get.
 */

import { messageOf } from "../base/errors.js";
import type { WorkerEvent, WorkerInfo } from "../channel/index.js";
import { describeError, stackOf } from "./error-description.js";
import { recordUncaughtErrors, writeErrorFile } from "./error-file.js";
import { deliver, iterateEvents, type WorkerEventListener } from "./listen.js";
import {
	openSession,
	sessionIfLaunched,
	sourceIfLaunched,
} from "./open-session.js";
import {
	acknowledgeNotice,
	listenForNotices,
	type Preemption,
	type PreemptionListener,
	showNotice,
} from "./preemption.js";
import {
	type WaitForWorkOptions,
	waitForWork as waitForWorkIn,
} from "./wait-for-work.js";
import type { WorkerSession } from "./worker-session.js";

export type {
	WorkerEvent,
	WorkerInfo,
} from "../channel/index.js";
export { WorkerState, WorldChangeEvent } from "../channel/index.js";
export type { WorkerEventListener } from "./listen.js";
export { NotLaunchedError } from "./not-launched-error.js";
export type { Preemption, PreemptionListener } from "./preemption.js";
export type { WaitForWorkOptions } from "./wait-for-work.js";

/**
 * The argument of `reportProgress`: the step, or what the worker does for so many seconds in which no step comes. Both may
 * have any other JSON beside them; the launcher shows the numbers.
 */
export type Progress = (
	| { readonly step: number; readonly busy?: undefined }
	| {
			readonly step?: number | undefined;
			readonly busy: string;
			readonly forSeconds: number;
	  }
) & { readonly [detail: string]: unknown };

/** In characters, so that an ERROR stays below the channel's limit; the error file has all of it. */
const LONGEST_REPLY_TEXT = 64 * 1024;

recordUncaughtErrors();

/**
 * This worker's place in the world of the newest round. It is read from disk without waiting, so it is right even if the
 * event loop was blocked; without changes it takes some microseconds. During a pause it is the place in the round that is
 * being left: ask again until the round is a later one. The call acknowledges the event that it reads, also a PAUSE: call
 * it when the worker has left its round, or will before it meets the others again. Throws NotLaunchedError without a
 * launcher.
 */
export function getWorkerInfo(): WorkerInfo {
	return showNewest(openSession()).workerInfo;
}

/**
 * The newest event; otherwise like `getWorkerInfo`. A worker that has read a PAUSE must leave its round, and may ask until
 * the worker state is HEALTHY again. There is an event before the worker's first statement.
 */
export function getWorkerEvent(): WorkerEvent {
	return showNewest(openSession());
}

/**
 * Calls `listener` in order for each event that this process has not received yet, starting with the newest. The next
 * event waits until the promise that the listener returned is resolved, and only then is the event acknowledged. An error
 * of the listener surfaces as an unhandled rejection. Returns a function that ends it. Throws NotLaunchedError without a
 * launcher.
 */
export function onWorkerEvent(listener: WorkerEventListener): () => void {
	const session = openSession();
	const cursor = session.cursorAtUnreceived();
	void deliver(session, cursor, listener);
	return () => cursor.close();
}

/**
 * Every event from the first, in order, each acknowledged when it is yielded. None is skipped as long as the process is
 * at most 64 events behind: older ones are removed from disk, and a warning says which were missed. While it waits for
 * the next event, the process stays alive. The iteration ends when `signal` is aborted, and throws CHANNEL when the agent
 * is gone. Throws NotLaunchedError without a launcher.
 */
export function workerEvents(
	options: { readonly signal?: AbortSignal | undefined } = {},
): AsyncGenerator<WorkerEvent, void, void> {
	return iterateEvents(openSession(), options.signal);
}

/**
 * Waits for work in a later round and returns this worker's place in it; returns at once if it is there already. The
 * agent knows that the worker waits, and the call acknowledges a PAUSE before that work. The process stays alive.
 *
 * By default a later round is one after the round that the last call returned, or at the first call, after the first
 * round that `getWorkerInfo` or `getWorkerEvent` showed. What these show later, and what listeners and iterators receive,
 * does not count: they may learn of the next round before the worker has left its own. Code that takes its rounds from
 * them passes the one in which it works as `afterRound`.
 *
 * Rejects with TIMEOUT after `timeoutMs`, with the signal's reason when `signal` is aborted, with CHANNEL when the agent
 * is gone, and with NotLaunchedError without elastic-run, where no later round can come.
 */
export async function waitForWork(
	options: WaitForWorkOptions = {},
): Promise<WorkerInfo> {
	return waitForWorkIn(openSession(), options);
}

/**
 * Tells the agent that the worker has received this event and all before it. A notice that `preemption` returned: that the
 * worker has saved what it wants to keep, and may be ended.
 */
export function acknowledge(event: WorkerEvent | Preemption): void {
	if ("kind" in event) sessionIfLaunched()?.acknowledge(event);
	else acknowledgeNotice(sourceIfLaunched(), event);
}

/**
 * Whether this worker's machine will go: when, who says so, and why; null if not, or not any more. It is read from disk
 * without waiting and may be called at each step. The worker works on until it ends by itself, acknowledges the notice, or
 * gets SIGTERM. Null without elastic-run.
 */
export function preemption(): Preemption | null {
	const source = sourceIfLaunched();
	return source === undefined ? null : showNotice(source);
}

/**
 * Calls `listener` when this worker's machine will go, also if it is known already, and again if the deadline changes. When
 * all workers' listeners have returned, and their promises are resolved, the workers get SIGTERM: a listener that only
 * remembers the notice for later must not be used, but `preemption`. Returns a function that ends it. It never keeps the
 * process alive, and does nothing without elastic-run.
 */
export function onPreemption(listener: PreemptionListener): () => void {
	const source = sourceIfLaunched();
	return source === undefined ? () => {} : listenForNotices(source, listener);
}

/**
 * Reports the worker's progress to the agent. It writes a small file, and may be called at each step. Does nothing
 * without elastic-run. `reportProgress({ busy: "checkpoint", forSeconds: 1200 })` announces that no step comes for so long:
 * the launcher takes it for no hang. Throws CHANNEL if `progress` exceeds 1 MiB as JSON, and TypeError if it is no JSON or
 * a number is missing.
 */
export function reportProgress(progress: Progress): void {
	const { step, busy, forSeconds, ...details } = progress;
	if (busy === undefined || step !== undefined) requireFinite("step", step);
	if (busy !== undefined) requireFinite("forSeconds", forSeconds);
	sessionIfLaunched()?.say({
		...details,
		...(step !== undefined && { step }),
		...(busy !== undefined && { busy: String(busy), for_seconds: forSeconds }),
		kind: "PROGRESS",
	});
}

function requireFinite(name: string, value: unknown): asserts value is number {
	if (Number.isFinite(value)) return;
	throw new TypeError(
		`reportProgress: ${name} must be a finite number, not ${value}.`,
	);
}

/**
 * Reports an error to the agent, and writes it to the launcher's error file, which the report of a failed run shows. It
 * ends nothing and never throws; without a launcher it does nothing.
 */
export function reportError(error: unknown): void {
	try {
		writeErrorFile(error, "reportError");
		sessionIfLaunched()?.say({
			kind: "ERROR",
			message: cut(describeError(error)),
			stack: cut(stackOf(error)),
		});
	} catch (problem) {
		process.emitWarning(
			`The error could not be reported: ${messageOf(problem)}`,
			"ElasticRunWarning",
		);
	}
}

function showNewest(session: WorkerSession): WorkerEvent {
	const event = session.newest();
	session.show(event);
	session.acknowledge(event);
	return event;
}

function cut(text: string): string;
function cut(text: string | undefined): string | undefined;
function cut(text: string | undefined): string | undefined {
	return text?.slice(0, LONGEST_REPLY_TEXT);
}
