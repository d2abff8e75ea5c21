import type {
	ChannelEvent,
	NoticeState,
	WorkerEvent,
	WorkerReply,
} from "../channel/index.js";

/** The source of a worker's events and the target of its replies. */
export interface EventSource {
	/** The newest event that is no notice, without waiting. */
	newest(): WorkerEvent;
	/** The newest notice, if there was any, without waiting. */
	notice(): NoticeState | undefined;
	/** The event after this sequence, if there is one. */
	next(after: number): ChannelEvent | undefined;
	/** Calls `lookAgain` when there may be more; returns a function that ends it. Does not keep the process alive. */
	watch(lookAgain: () => void): () => void;
	/** The last possible sequence; Infinity if there may always be more. */
	readonly lastSequence: number;
	/** Sends a reply to the agent, if there is one. */
	say(reply: WorkerReply): void;
	warn(message: string): void;
}

/** The source of a process that another launcher started: one event, and no agent. */
export function singleEventSource(event: WorkerEvent): EventSource {
	return {
		newest: () => event,
		notice: () => undefined,
		next: (after) => (after < event.sequence ? event : undefined),
		watch: () => () => {},
		lastSequence: event.sequence,
		say: () => {},
		warn: () => {},
	};
}
