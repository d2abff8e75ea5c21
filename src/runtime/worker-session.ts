import type { WorkerEvent, WorkerReply } from "../channel/events.js";
import { EventCursor } from "./event-cursor.js";
import type { EventSource } from "./event-source.js";

/** What this process has received and acknowledged so far. */
export class WorkerSession {
	readonly #source: EventSource;
	#received = 0;
	#acknowledged = 0;
	#takenRound = 0;

	constructor(source: EventSource) {
		this.#source = source;
		source.say({ kind: "HELLO" });
	}

	/** The round that the process works in, as far as the library can know; 0 before the first. */
	get takenRound(): number {
		return this.#takenRound;
	}

	/** Notes that the process has been given its place in the round of this WORK, and works there from now on. */
	take({ round }: WorkerEvent): void {
		this.#takenRound = round;
	}

	/**
	 * Notes that the process was shown this event. Only the first WORK is one that it takes: later
	 * ones it may see before it has left its round, and it must not wait for work behind those.
	 */
	show(event: WorkerEvent): void {
		if (this.#takenRound === 0 && event.kind === "WORK") this.take(event);
	}

	/** The newest event on disk, whether received or not. */
	newest(): WorkerEvent {
		return this.#source.newest();
	}

	/** Notes that the process has this event. */
	receive(event: WorkerEvent): void {
		this.#received = Math.max(this.#received, event.sequence);
	}

	/** Tells the agent that this event and all before it have been received, unless it knows. */
	acknowledge(event: WorkerEvent): void {
		this.receive(event);
		if (event.sequence <= this.#acknowledged) return;
		this.#acknowledged = event.sequence;
		this.#source.say({ kind: "ACK", event: event.sequence });
	}

	say(reply: WorkerReply): void {
		this.#source.say(reply);
	}

	warn(message: string): void {
		this.#source.warn(message);
	}

	/** Reads on behind the event with sequence `after`. */
	cursorAfter(after: number): EventCursor {
		return new EventCursor(this.#source, after);
	}

	/** Reads on with the first event that the process has not received, at first with the newest. */
	cursorAtUnreceived(): EventCursor {
		const received = this.#received;
		return this.cursorAfter(
			received > 0 ? received : this.newest().sequence - 1,
		);
	}
}
