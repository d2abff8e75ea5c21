import type { WorkerEvent } from "../channel/events.js";
import type { EventSource } from "./event-source.js";

/** A reader's position in the events, which it reads in order. It does not keep the process alive. */
export class EventCursor {
	private readonly source: EventSource;
	private readonly endWatch: () => void;
	private position: number;
	private isClosed = false;
	private wake: () => void = () => {};

	/** Starts after the event with sequence `after`. */
	constructor(source: EventSource, after: number) {
		this.source = source;
		this.position = after;
		this.endWatch = source.watch(() => this.wake());
	}

	get closed(): boolean {
		return this.isClosed;
	}

	/** The next event, if there is one already. */
	poll(): WorkerEvent | undefined {
		const event = this.source.next(this.position);
		if (event !== undefined) this.position = event.sequence;
		return event;
	}

	/** The next event; undefined once the cursor is closed or no more events can come. */
	async next(): Promise<WorkerEvent | undefined> {
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
