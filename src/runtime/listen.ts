import type { WorkerEvent } from "../channel/events.js";
import { systemClock } from "../clock.js";
import { messageOf } from "../errors.js";
import type { EventCursor } from "./event-cursor.js";
import type { WorkerSession } from "./worker-session.js";

/** Gets one event at a time; the next one waits until a promise that it returns is resolved. */
export type WorkerEventListener = (event: WorkerEvent) => unknown;

/** Hands events to a listener until the cursor is closed. */
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
		// The user's own error surfaces as an unhandled rejection, as it would without us.
		void Promise.reject(error);
		return;
	}
	session.acknowledge(event);
}

/** Yields every event from the first until `signal` is aborted. Keeps the process alive only while the last one was a PAUSE. */
export async function* iterateEvents(
	session: WorkerSession,
	signal: AbortSignal | undefined,
): AsyncGenerator<WorkerEvent, void, void> {
	if (signal?.aborted) return;
	const cursor = session.cursorAfter(0);
	const close = () => cursor.close();
	signal?.addEventListener("abort", close, { once: true });
	try {
		let event = await cursor.next();
		while (event !== undefined) {
			session.acknowledge(event);
			yield event;
			event = await nextAfter(event, cursor);
		}
	} finally {
		signal?.removeEventListener("abort", close);
		cursor.close();
	}
}

async function nextAfter(
	event: WorkerEvent,
	cursor: EventCursor,
): Promise<WorkerEvent | undefined> {
	if (event.kind === "WORK") return cursor.next();
	const letGo = systemClock.wakeAt(Number.POSITIVE_INFINITY, () => {});
	try {
		return await cursor.next();
	} finally {
		letGo();
	}
}
