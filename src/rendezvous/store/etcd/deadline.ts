import type { Clock } from "../../../base/clock.js";
import type { AnswerTime } from "./answer-times.js";

/** A timer that fires later than this, in milliseconds, shows that the process was busy or frozen. */
const LATE_MS = 50;
/** How long to wait then for pending input to be read. */
const GRACE_MS = 100;

/**
 * Calls `missed` if what was expected by `at` has not come. Timers fire before sockets are read: if the process itself
 * was late, the answer may be there already, so it waits a little longer. Returns a function that cancels it.
 */
export function expectBy(
	clock: Clock,
	at: number,
	missed: () => void,
): () => void {
	let cancel = clock.wakeAt(at, () => {
		const now = clock.now();
		if (now - at <= LATE_MS) missed();
		else cancel = clock.wakeAt(now + GRACE_MS, missed);
	});
	return () => cancel();
}

/** The state of a connection that determines how long its answers may take. */
export interface Greeting {
	/** When a message was last received. */
	readonly heardAt: number;
	/** Whether the server has accepted it. */
	readonly isReached: boolean;
}

/**
 * Calls `missed` with the time waited if an answer to what is sent now does not come in time. Returns a function that
 * cancels it.
 */
export function expectAnswer(
	clock: Clock,
	connection: Greeting,
	{ withinMs, firstWithinMs }: AnswerTime,
	missed: (waitedMs: number) => void,
): () => void {
	const sentAt = clock.now();
	const isNew = connection.heardAt === Number.NEGATIVE_INFINITY;
	let cancel = expectBy(clock, sentAt + withinMs, () => {
		// Another try may be accepted if this one was lost on the way.
		if (!isNew || !connection.isReached) missed(withinMs);
		else {
			const miss = () => missed(firstWithinMs);
			cancel = expectBy(clock, sentAt + firstWithinMs, miss);
		}
	});
	return () => cancel();
}
