import { systemClock } from "../base/clock.js";
import { ElasticRunError } from "../base/errors.js";
import type { WorkerInfo } from "../channel/index.js";
import type { EventCursor } from "./event-cursor.js";
import { NotLaunchedError } from "./not-launched-error.js";
import type { WorkerSession } from "./worker-session.js";

export interface WaitForWorkOptions {
	/**
	 * Only work in a later round than this one counts. Default: the round that `waitForWork` last returned, or else the
	 * first that the process was shown.
	 */
	readonly afterRound?: number | undefined;
	/** The longest wait, in milliseconds. Default: no limit. */
	readonly timeoutMs?: number | undefined;
	/** Ends the wait; the promise is rejected with the signal's reason. */
	readonly signal?: AbortSignal | undefined;
}

/** See `waitForWork` in runtime.ts. The timer of the time-out also keeps the process alive during the wait. */
export async function waitForWork(
	session: WorkerSession,
	options: WaitForWorkOptions,
): Promise<WorkerInfo> {
	const { afterRound = session.takenRound, timeoutMs, signal } = options;
	signal?.throwIfAborted();
	const cursor = session.cursorAfter(session.newest().sequence);
	const close = () => cursor.close();
	const cancelTimer = systemClock.wakeAt(
		systemClock.now() + (timeoutMs ?? Number.POSITIVE_INFINITY),
		close,
	);
	signal?.addEventListener("abort", close, { once: true });
	try {
		const info = await workAfter(afterRound, session, cursor, signal);
		if (info !== undefined) return info;
		throw notComing(session, cursor, afterRound, timeoutMs);
	} finally {
		signal?.removeEventListener("abort", close);
		cancelTimer();
		cursor.close();
	}
}

/**
 * Only the newest event counts. It is checked once more after the cursor was closed: a blocked event loop sees the
 * time-out before the event.
 */
async function workAfter(
	afterRound: number,
	session: WorkerSession,
	cursor: EventCursor,
	signal: AbortSignal | undefined,
): Promise<WorkerInfo | undefined> {
	let toldIn: number | undefined;
	let more = true;
	while (!signal?.aborted) {
		const event = session.newest();
		session.acknowledge(event);
		if (event.kind === "WORK" && event.round > afterRound) {
			session.take(event);
			// By waiting, the worker has already said that it has left the round before.
			if (toldIn === undefined && event.sequence > 1) {
				session.say({ kind: "WORKING", round: event.round });
			}
			return event.workerInfo;
		}
		if (!more) break;
		if (toldIn !== event.round) {
			const message = `waiting for a round after ${afterRound}`;
			session.say({ kind: "WAITING", round: event.round, message });
			toldIn = event.round;
		}
		more = (await cursor.next()) !== undefined;
	}
	// Otherwise a worker that looked in only for a moment would seem to be waiting still.
	if (toldIn !== undefined) session.say({ kind: "WAITED" });
	signal?.throwIfAborted();
	return undefined;
}

function notComing(
	session: WorkerSession,
	cursor: EventCursor,
	afterRound: number,
	timeoutMs: number | undefined,
): ElasticRunError {
	if (!cursor.closed) {
		return new NotLaunchedError(
			`it was started by another launcher, which announces no round after ${afterRound}`,
		);
	}
	return new ElasticRunError(
		"TIMEOUT",
		`No work of a round after ${afterRound} within ${timeoutMs} ms; the newest event is ${describe(session)}. Wait longer, or let this process end, so that the launcher restarts it.`,
	);
}

function describe(session: WorkerSession): string {
	const { kind, round, reason } = session.newest();
	return `${kind} of round ${round} (${reason})`;
}
