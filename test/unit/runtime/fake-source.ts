import type {
	ChannelEvent,
	NoticeEvent,
	NoticeState,
	WorkerEvent,
	WorkerReply,
} from "../../../src/channel/events.js";
import type {
	OutgoingEvent,
	OutgoingNotice,
} from "../../../src/channel/worker-channel.js";
import type { EventSource } from "../../../src/runtime/event-source.js";
import { WorkerSession } from "../../../src/runtime/worker-session.js";

/** A channel in memory whose notifications the test gives. */
export class FakeSource implements EventSource {
	readonly lastSequence = Number.POSITIVE_INFINITY;
	readonly events: ChannelEvent[] = [];
	readonly said: WorkerReply[] = [];
	readonly lookers = new Set<() => void>();

	session(...first: OutgoingEvent[]): WorkerSession {
		for (const event of first) this.put(event);
		return new WorkerSession(this);
	}

	/** Adds an event without a notification. */
	put(event: OutgoingEvent): WorkerEvent {
		const added = {
			...event,
			sequence: this.events.length + 1,
			timestamp: 0,
		};
		this.events.push(added);
		return added;
	}

	/** Adds an event, and says so. */
	send(event: OutgoingEvent): WorkerEvent {
		const added = this.put(event);
		this.hint();
		return added;
	}

	/** Adds a notice, and says so. */
	sendNotice(notice: OutgoingNotice): NoticeEvent {
		const sequence = this.events.length + 1;
		const added = { ...notice, sequence, timestamp: 0 };
		this.events.push(added);
		this.hint();
		return added;
	}

	hint(): void {
		for (const look of this.lookers) look();
	}

	newest(): WorkerEvent {
		const newest = this.events.findLast(({ kind }) => kind !== "NOTICE");
		if (newest === undefined || newest.kind === "NOTICE") {
			throw new Error("no event");
		}
		return newest;
	}

	notice(): NoticeState | undefined {
		const notice = this.events.findLast(({ kind }) => kind === "NOTICE");
		return notice?.kind === "NOTICE" ? notice : undefined;
	}

	next(after: number): ChannelEvent | undefined {
		return this.events[after];
	}

	watch(lookAgain: () => void): () => void {
		this.lookers.add(lookAgain);
		return () => this.lookers.delete(lookAgain);
	}

	say(reply: WorkerReply): void {
		this.said.push(reply);
	}

	warn(): void {}

	/** What was said, in short: `HELLO`, `ACK 2`, `WAITING 4`. */
	get words(): string[] {
		return this.said.map((reply) => {
			if ("event" in reply) return `${reply.kind} ${reply.event}`;
			return "round" in reply ? `${reply.kind} ${reply.round}` : reply.kind;
		});
	}
}

/** Lets everything that is ready to run do so. */
export const settle = () => new Promise((resolve) => setImmediate(resolve));
