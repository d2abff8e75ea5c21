import { messageOf } from "../base/errors.js";
import type { NoticeEvent, NoticeState } from "../channel/index.js";
import { EventCursor, isNotice } from "./event-cursor.js";
import type { EventSource } from "./event-source.js";

/** This worker's machine will go. */
export interface Preemption {
	/** When, in milliseconds since 1970; null if unknown. */
	readonly deadline: number | null;
	/** Who says so: "aws", "gcp", "azure", "slurm", "kubernetes", "file", "lifetime", "command" or "chaos". */
	readonly source: string;
	/** Why, in words. */
	readonly reason: string;
}

/** Receives a notice. When it has returned, and its promise is resolved, this worker may be ended. */
export type PreemptionListener = (preemption: Preemption) => unknown;

/** The event behind each object that this process was shown. */
const events = new WeakMap<object, number>();

/** The notice that holds now; null if there is none, or it was withdrawn. The agent learns that the worker knows of it. */
export function showNotice(source: EventSource): Preemption | null {
	const notice = source.notice();
	const preemption = notice && preemptionOf(notice);
	if (notice === undefined || preemption === undefined) return null;
	if (lastShown.get(source) !== notice.sequence) {
		lastShown.set(source, notice.sequence);
		source.say({ kind: "NOTICED", event: notice.sequence });
	}
	return preemption;
}

const lastShown = new WeakMap<EventSource, number>();

/** The agent learns that this worker may be ended. */
export function acknowledgeNotice(
	source: EventSource | undefined,
	preemption: Preemption,
): void {
	const event = events.get(preemption);
	if (event !== undefined) source?.say({ kind: "ACK", event });
}

/** Calls the listener with the notice that holds now, and with each later one. Returns a function that ends it. */
export function listenForNotices(
	source: EventSource,
	listener: PreemptionListener,
): () => void {
	const known = source.notice();
	const after = known?.sequence ?? source.newest().sequence;
	const cursor = new EventCursor(source, after, isNotice);
	void deliver(source, cursor, known, listener);
	return () => cursor.close();
}

async function deliver(
	source: EventSource,
	cursor: EventCursor<NoticeEvent>,
	known: NoticeState | undefined,
	listener: PreemptionListener,
): Promise<void> {
	try {
		let notice = known ?? (await cursor.next());
		while (notice !== undefined && !cursor.closed) {
			await call(source, notice, listener);
			notice = await cursor.next();
		}
	} catch (error) {
		source.warn(messageOf(error));
	} finally {
		cursor.close();
	}
}

async function call(
	source: EventSource,
	notice: NoticeState,
	listener: PreemptionListener,
): Promise<void> {
	// It may be withdrawn or replaced by now: the newest is heard as well.
	if (source.notice()?.sequence !== notice.sequence) return;
	const preemption = preemptionOf(notice);
	if (preemption === undefined) return;
	source.say({ kind: "NOTICED", event: notice.sequence });
	try {
		await listener(preemption);
	} catch (error) {
		// The user's error surfaces as an unhandled rejection, as it would without this library.
		void Promise.reject(error);
		return;
	}
	source.say({ kind: "ACK", event: notice.sequence });
}

/** Undefined if it was withdrawn. */
function preemptionOf({
	sequence,
	deadline,
	source,
	reason,
}: NoticeState): Preemption | undefined {
	if (source === null) return undefined;
	const preemption = { deadline, source, reason };
	events.set(preemption, sequence);
	return preemption;
}
