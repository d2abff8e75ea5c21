import { systemClock } from "../base/clock.js";
import { messageOf } from "../base/errors.js";
import type { WorkerEvent } from "../channel/index.js";
import type { EventCursor } from "./event-cursor.js";
import type { WorkerSession } from "./worker-session.js";

/** Receives one event at a time; the next one waits until the promise that it returns is resolved. */
export type WorkerEventListener = (event: WorkerEvent) => unknown;

/** Passes events to a listener until the cursor is closed. */
export async function deliver(
	session: WorkerSession,
	cursor: EventCursor,
	listener: WorkerEventListener,
): Promise<void> {
	try {
		for (;;) {
			const event = await cursor.next();
			if (event === undefined || cursor.closed) return;
			await call(listener, event, session);
		}
	} catch (error) {
		session.warn(messageOf(error));
	} finally {
		cursor.close();
	}
}

async function call(
	listener: WorkerEventListener,
	event: WorkerEvent,
	session: WorkerSession,
): Promise<void> {
	session.receive(event);
	try {
		await listener(event);
	} catch (error) {
		// The user's error surfaces as an unhandled rejection, as it would without this library.
		void Promise.reject(error);
		return;
	}
	session.acknowledge(event);
}

/** Yields every event from the first until `signal` is aborted. While it waits for one, the process stays alive. */
export async function* iterateEvents(
	session: WorkerSession,
	signal: AbortSignal | undefined,
): AsyncGenerator<WorkerEvent, void, void> {
	if (signal?.aborted) return;
	const cursor = session.cursorAfter(0);
	const close = () => cursor.close();
	signal?.addEventListener("abort", close, { once: true });
	try {
		for (;;) {
			const event = cursor.poll() ?? (await awaited(cursor));
			if (event === undefined || cursor.closed) return;
			session.acknowledge(event);
			yield event;
		}
	} finally {
		signal?.removeEventListener("abort", close);
		cursor.close();
	}
}

/** A cursor lets the process end; a timer that never fires does not. */
async function awaited(cursor: EventCursor): Promise<WorkerEvent | undefined> {
	const letGo = systemClock.wakeAt(Number.POSITIVE_INFINITY, () => {});
	try {
		return await cursor.next();
	} finally {
		letGo();
	}
}
