import type {
	ChannelEvent,
	NoticeEvent,
	WorkerEvent,
} from "../channel/index.js";
import type { EventSource } from "./event-source.js";

/** Chooses the events that a cursor shows. */
export type Wanted<Event extends ChannelEvent> = (
	event: ChannelEvent,
) => event is Event;

export const isNotice: Wanted<NoticeEvent> = (event) => event.kind === "NOTICE";
export const isOfRounds: Wanted<WorkerEvent> = (event) =>
	event.kind !== "NOTICE";

/** A reader's position in the events, which it reads in order. It does not keep the process alive. */
export class EventCursor<Event extends ChannelEvent = WorkerEvent> {
	private readonly source: EventSource;
	private readonly isWanted: Wanted<Event>;
	private readonly endWatch: () => void;
	private position: number;
	private isClosed = false;
	private wake: () => void = () => {};

	/** Starts after the event with sequence `after`. */
	constructor(source: EventSource, after: number, isWanted: Wanted<Event>) {
		this.source = source;
		this.isWanted = isWanted;
		this.position = after;
		this.endWatch = source.watch(() => this.wake());
	}

	get closed(): boolean {
		return this.isClosed;
	}

	/** The next event, if there is one already. */
	poll(): Event | undefined {
		for (;;) {
			const event = this.source.next(this.position);
			if (event === undefined) return undefined;
			this.position = event.sequence;
			if (this.isWanted(event)) return event;
		}
	}

	/** The next event; undefined once the cursor is closed or no more events can come. */
	async next(): Promise<Event | undefined> {
		while (!this.isClosed) {
			const event = this.poll();
			if (event !== undefined) return event;
			if (this.position >= this.source.lastSequence) return undefined;
			await new Promise<void>((resolve) => {
				this.wake = resolve;
			});
		}
		return undefined;
	}

	close(): void {
		this.isClosed = true;
		this.endWatch();
		this.wake();
	}
}
