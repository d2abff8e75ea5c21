import { backgroundClock, systemClock } from "../base/clock.js";
import { messageOf } from "../base/errors.js";
import {
	type ChannelEvent,
	channelPaths,
	EventReader,
	listenToDoorbell,
	type NoticeState,
	onceEach,
	openLocalWatcher,
	ReplyWriter,
	type WorkerEvent,
	type WorkerReply,
	watchDirectory,
} from "../channel/index.js";
import type { EventSource } from "./event-source.js";

/** A worker's event source: the channel that its agent made for it. */
export class ChannelSource implements EventSource {
	readonly lastSequence = Number.POSITIVE_INFINITY;
	readonly warn = onceEach((message) =>
		process.emitWarning(message, "ElasticRunWarning"),
	);
	private readonly directory: string;
	private readonly reader: EventReader;
	private readonly writer: ReplyWriter;
	private readonly lookers = new Set<() => void>();
	private endWatch: () => void = () => {};

	constructor(directory: string) {
		this.directory = directory;
		this.reader = new EventReader(directory, this.warn);
		this.writer = new ReplyWriter(directory);
	}

	newest(): WorkerEvent {
		return this.reader.newest();
	}

	notice(): NoticeState | undefined {
		return this.reader.notice();
	}

	next(after: number): ChannelEvent | undefined {
		return this.reader.next(after);
	}

	/** One watcher serves all callers. */
	watch(lookAgain: () => void): () => void {
		if (this.lookers.size === 0) this.startWatch();
		this.lookers.add(lookAgain);
		return () => {
			if (this.lookers.delete(lookAgain) && this.lookers.size === 0) {
				this.endWatch();
			}
		};
	}

	/** A reply that the disk refuses must not make the user's training fail; one that is too large is the caller's error. */
	say(reply: WorkerReply): void {
		try {
			if (this.writer.write(reply, systemClock.wallTime())) return;
			this.warn(
				`This process reports errors faster than its agent accepts them; the error file has the last one.`,
			);
		} catch (error) {
			if (!(error instanceof Error && "syscall" in error)) throw error;
			this.warn(
				`The agent cannot be told ${reply.kind} through ${this.directory}: ${messageOf(error)}`,
			);
		}
	}

	private startWatch(): void {
		const { events, doorbell } = channelPaths(this.directory);
		this.endWatch = watchDirectory(
			events,
			() => {
				for (const lookAgain of [...this.lookers]) lookAgain();
			},
			{
				clock: backgroundClock,
				warn: this.warn,
				// With an fs.watch the kernel takes some 10 ms longer to end a process.
				openWatcher: (directory, onChange, onError) =>
					listenToDoorbell(doorbell, onChange) ??
					openLocalWatcher(directory, onChange, onError),
			},
		);
	}
}
