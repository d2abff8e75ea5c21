import type { WorkerEvent, WorkerReply } from "../channel/events.js";

/** Where a worker's events come from and its replies go to. */
export interface EventSource {
	/** The newest event, without waiting. */
	newest(): WorkerEvent;
	/** The event after the one with this sequence, if it is there. */
	next(after: number): WorkerEvent | undefined;
	/** Calls `lookAgain` when there may be more; returns a function that ends it. It does not keep the process alive. */
	watch(lookAgain: () => void): () => void;
	/** The sequence after which none can come; Infinity where more may always come. */
	readonly lastSequence: number;
	/** Tells the agent something, if there is one. */
	say(reply: WorkerReply): void;
	/** Tells the user something that is no error. */
	warn(message: string): void;
}

/** The source of a process that was started by another launcher: one event, nobody to reply to. */
export function singleEventSource(event: WorkerEvent): EventSource {
	return {
		newest: () => event,
		next: (after) => (after < event.sequence ? event : undefined),
		watch: () => () => {},
		lastSequence: event.sequence,
		say: () => {},
		warn: () => {},
	};
}
