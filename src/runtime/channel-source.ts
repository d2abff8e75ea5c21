import { EventReader } from "../channel/event-reader.js";
import type { WorkerEvent, WorkerReply } from "../channel/events.js";
import { hearDoorbell } from "../channel/hear-doorbell.js";
import { channelPaths } from "../channel/layout.js";
import { onceEach } from "../channel/once-each.js";
import { ReplyWriter } from "../channel/reply-writer.js";
import {
	openLocalWatcher,
	watchDirectory,
} from "../channel/watch-directory.js";
import { backgroundClock, systemClock } from "../clock.js";
import { messageOf } from "../errors.js";
import type { EventSource } from "./event-source.js";

/** The source of a worker: the channel that its agent made for it. */
export class ChannelSource implements EventSource {
	readonly lastSequence = Number.POSITIVE_INFINITY;
	readonly warn = onceEach((message) =>
		process.emitWarning(message, "ElasticRunWarning"),
	);
	readonly #directory: string;
	readonly #reader: EventReader;
	readonly #writer: ReplyWriter;
	readonly #lookers = new Set<() => void>();
	#endWatch: () => void = () => {};

	constructor(directory: string) {
		this.#directory = directory;
		this.#reader = new EventReader(directory, this.warn);
		this.#writer = new ReplyWriter(directory);
	}

	newest(): WorkerEvent {
		return this.#reader.newest();
	}

	next(after: number): WorkerEvent | undefined {
		return this.#reader.next(after);
	}

	/** One watcher serves all who look. */
	watch(lookAgain: () => void): () => void {
		if (this.#lookers.size === 0) this.#startWatch();
		this.#lookers.add(lookAgain);
		return () => {
			if (this.#lookers.delete(lookAgain) && this.#lookers.size === 0) {
				this.#endWatch();
			}
		};
	}

	/** A reply that the disk does not take is no reason for the user's training to fail; one that is too large is the caller's error. */
	say(reply: WorkerReply): void {
		try {
			this.#writer.write(reply, systemClock.wallTime());
		} catch (error) {
			if (!(error instanceof Error && "syscall" in error)) throw error;
			this.warn(
				`The agent cannot be told ${reply.kind} through ${this.#directory}: ${messageOf(error)}`,
			);
		}
	}

	#startWatch(): void {
		const { events, doorbell } = channelPaths(this.#directory);
		this.#endWatch = watchDirectory(
			events,
			() => {
				for (const lookAgain of [...this.#lookers]) lookAgain();
			},
			{
				clock: backgroundClock,
				warn: this.warn,
				// A process with an fs.watch takes the kernel some 10 ms longer to end.
				openWatcher: (directory, onChange, onError) =>
					hearDoorbell(doorbell, onChange) ??
					openLocalWatcher(directory, onChange, onError),
			},
		);
	}
}
