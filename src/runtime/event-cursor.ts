import type { WorkerEvent } from "../channel/events.js";
import type { EventSource } from "./event-source.js";

/** A reader's position in the events, from which it goes on in order. It does not keep the process alive. */
export class EventCursor {
	readonly #source: EventSource;
	readonly #endWatch: () => void;
	#position: number;
	#closed = false;
	#wake: () => void = () => {};

	/** Starts behind the event with sequence `after`. */
	constructor(source: EventSource, after: number) {
		this.#source = source;
		this.#position = after;
		this.#endWatch = source.watch(() => this.#wake());
	}

	get closed(): boolean {
		return this.#closed;
	}

	/** The next event, if it is there already. */
	poll(): WorkerEvent | undefined {
		const event = this.#source.next(this.#position);
		if (event !== undefined) this.#position = event.sequence;
		return event;
	}

	/** The next event; undefined once the cursor was closed or no event can come any more. */
	async next(): Promise<WorkerEvent | undefined> {
		while (!this.#closed) {
			const event = this.poll();
			if (event !== undefined) return event;
			if (this.#position >= this.#source.lastSequence) return undefined;
			await new Promise<void>((resolve) => {
				this.#wake = resolve;
			});
		}
		return undefined;
	}

	close(): void {
		this.#closed = true;
		this.#endWatch();
		this.#wake();
	}
}
