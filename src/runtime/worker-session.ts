import type { WorkerEvent, WorkerReply } from "../channel/index.js";
import { EventCursor, isOfRounds } from "./event-cursor.js";
import type { EventSource } from "./event-source.js";

/** What this process has received and acknowledged so far. */
export class WorkerSession {
	private readonly source: EventSource;
	private received = 0;
	private acknowledged = 0;
	private latestRound = 0;

	constructor(source: EventSource) {
		this.source = source;
		source.say({ kind: "HELLO" });
	}

	/** The round in which the process works, as far as the library knows; 0 before the first. */
	get takenRound(): number {
		return this.latestRound;
	}

	/** Records that the process has its place in the round of this WORK, and works there from now on. */
	take({ round }: WorkerEvent): void {
		this.latestRound = round;
	}

	/**
	 * Records that the process was shown this event. Only the first WORK counts as taken: it may see later ones before it
	 * has left its round, and must not wait for work after those.
	 */
	show(event: WorkerEvent): void {
		if (this.latestRound === 0 && event.kind === "WORK") this.take(event);
	}

	/** The newest event on disk, received or not. */
	newest(): WorkerEvent {
		return this.source.newest();
	}

	/** Records that the process has this event. */
	receive(event: WorkerEvent): void {
		this.received = Math.max(this.received, event.sequence);
	}

	/** Tells the agent that this event and all before it were received, unless it knows. */
	acknowledge(event: WorkerEvent): void {
		this.receive(event);
		if (event.sequence <= this.acknowledged) return;
		this.acknowledged = event.sequence;
		this.source.say({ kind: "ACK", event: event.sequence });
	}

	say(reply: WorkerReply): void {
		this.source.say(reply);
	}

	warn(message: string): void {
		this.source.warn(message);
	}

	/** Reads on after the event with sequence `after`. */
	cursorAfter(after: number): EventCursor {
		return new EventCursor(this.source, after, isOfRounds);
	}

	/** Reads on with the first event that the process has not received, at first with the newest. */
	cursorAtUnreceived(): EventCursor {
		const received = this.received;
		return this.cursorAfter(
			received > 0 ? received : this.newest().sequence - 1,
		);
	}
}
