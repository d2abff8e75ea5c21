/**
 * The runtime library: how a worker learns of its place in the world and of the
 * rounds to come, and tells its agent how it is doing.
 *
 * It needs no package and opens nothing until it is called. It keeps the process
 * alive only while `waitForWork` or the next event of `workerEvents` is awaited:
 * a worker that waits must not end as if it had succeeded. To follow events in
 * the background, use `onWorkerEvent`, which never keeps it alive.
 *
 * Child processes and threads that inherit ELASTIC_RUN_CHANNEL are part of the
 * worker: what one of them receives or reports counts as the worker's. Start a
 * child without that variable if it is not to speak for the worker.
 *
 * A process that another launcher has started with torchrun's variables gets its
 * place from these, as one event after which no other comes.
 */
import type { WorkerEvent, WorkerInfo } from "../channel/events.js";
import { systemClock } from "../clock.js";
import { messageOf } from "../errors.js";
import { ChannelSource } from "./channel-source.js";
import { channelDirectory, variables } from "./environment.js";
import { describeError, stackOf } from "./error-description.js";
import { recordUncaughtErrors, writeErrorFile } from "./error-file.js";
import { singleEventSource } from "./event-source.js";
import { deliver, iterateEvents, type WorkerEventListener } from "./listen.js";
import { sharedState } from "./shared-state.js";
import { eventFromVariables } from "./torchrun-event.js";
import {
	type WaitForWorkOptions,
	waitForWork as waitForWorkIn,
} from "./wait-for-work.js";
import { WorkerSession } from "./worker-session.js";

export type {
	WorkerEvent,
	WorkerInfo,
	WorkerState,
	WorldChangeEvent,
} from "../channel/events.js";
export type { WorkerEventListener } from "./listen.js";
export { NotLaunchedError } from "./not-launched-error.js";
export type { WaitForWorkOptions } from "./wait-for-work.js";

/** What `reportProgress` takes: the step, and anything else that is JSON. */
export interface Progress {
	readonly step: number;
	readonly [detail: string]: unknown;
}

/** In characters, so that an ERROR stays below what the channel takes; the error file has the whole. */
const LONGEST_REPLY_TEXT = 64 * 1024;

recordUncaughtErrors();

/**
 * This worker's place in the world of the newest round: from disk, without
 * waiting, right even where the event loop has been blocked; some microseconds
 * where nothing has changed. While the worker is to pause, that of the round that
 * is being left. It acknowledges a WORK, but not a PAUSE, which it does not show.
 * Throws NotLaunchedError outside of a launcher.
 */
export function getWorkerInfo(): WorkerInfo {
	const session = openSession();
	const event = session.newest();
	session.show(event);
	if (event.kind === "WORK") session.acknowledge(event);
	return event.workerInfo;
}

/**
 * The newest event, and acknowledges it; otherwise as `getWorkerInfo`. There is
 * one before the worker's first statement.
 */
export function getWorkerEvent(): WorkerEvent {
	const session = openSession();
	const event = session.newest();
	session.show(event);
	session.acknowledge(event);
	return event;
}

/**
 * Calls `listener` for each event that this process has not received yet, in
 * order; at first for the newest. One at a time: the next waits until the promise
 * that the listener returned is resolved, and only then is the event
 * acknowledged. What the listener throws surfaces as an unhandled rejection.
 * Returns a function that ends it. Throws NotLaunchedError outside of a launcher.
 */
export function onWorkerEvent(listener: WorkerEventListener): () => void {
	const session = openSession();
	const cursor = session.cursorAtUnreceived();
	void deliver(session, cursor, listener);
	return () => cursor.close();
}

/**
 * Every event from the first, in order, each acknowledged when it is handed over.
 * None is skipped as long as the process is not more than 64 events behind: older
 * ones are removed from disk, and then a warning says which were missed. While the
 * next event is awaited the process stays alive; the iteration ends when `signal`
 * is aborted, and throws CHANNEL when the agent is gone. Throws NotLaunchedError outside of a launcher.
 */
export function workerEvents(
	options: { readonly signal?: AbortSignal | undefined } = {},
): AsyncGenerator<WorkerEvent, void, void> {
	return iterateEvents(openSession(), options.signal);
}

/**
 * Waits for work of a later round and returns this worker's place in it; at once
 * where it is there already. Meanwhile the agent knows that the worker waits, and
 * the PAUSE that it waits behind is acknowledged. The process stays alive.
 *
 * By default a later round is one after the round that the last call returned, or,
 * before there was one, after the first that `getWorkerInfo` or `getWorkerEvent`
 * showed. What these show later and what listeners and iterators get does not count:
 * they may be told of the next round before the worker has left its own. Code that
 * takes its rounds from them passes the one that it works in as `afterRound`.
 *
 * Rejects with TIMEOUT after `timeoutMs`, with the signal's reason when `signal`
 * is aborted, with CHANNEL when the agent is gone, and with NotLaunchedError
 * outside of elastic-run, where no later round can come.
 */
export async function waitForWork(
	options: WaitForWorkOptions = {},
): Promise<WorkerInfo> {
	return waitForWorkIn(openSession(), options);
}

/** Says that the worker has received this event and all before it. */
export function acknowledge(event: WorkerEvent): void {
	sessionIfLaunched()?.acknowledge(event);
}

/**
 * Tells the agent how far the worker has come. It writes a small file, so call it
 * some times a second at most. Does nothing outside of elastic-run. Throws CHANNEL
 * where `progress` is larger than 1 MiB as JSON, and TypeError where it is no JSON
 * or its step no number.
 */
export function reportProgress(progress: Progress): void {
	if (!Number.isFinite(progress.step)) {
		throw new TypeError(
			`reportProgress: step must be a finite number, not ${progress.step}.`,
		);
	}
	sessionIfLaunched()?.say({ ...progress, kind: "PROGRESS" });
}

/**
 * Tells the agent of an error, and leaves it in the launcher's error file, where
 * the report of a failed run finds it. It ends nothing and never throws; outside
 * of a launcher it does nothing.
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

/** The state that all calls share; the first of them says HELLO. */
function openSession(): WorkerSession {
	const state = sharedState();
	state.session ??= new WorkerSession(openSource());
	return state.session;
}

function openSource() {
	const directory = channelDirectory();
	return directory === undefined
		? singleEventSource(eventFromVariables(variables(), systemClock.wallTime()))
		: new ChannelSource(directory);
}

/** For calls that only tell something: where nobody listens they do nothing. */
function sessionIfLaunched(): WorkerSession | undefined {
	return channelDirectory() === undefined ? undefined : openSession();
}

function cut(text: string): string;
function cut(text: string | undefined): string | undefined;
function cut(text: string | undefined): string | undefined {
	return text?.slice(0, LONGEST_REPLY_TEXT);
}
