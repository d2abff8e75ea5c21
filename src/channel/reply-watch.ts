import type { Clock } from "../base/clock.js";
import { messageOf } from "../base/errors.js";
import type { ChannelRoot } from "./channel-root.js";
import { touchTree } from "./directories.js";
import {
	networkFileSystemOf,
	POLL_MS,
	Poll,
	SOLE_POLL_MS,
} from "./directory-watch.js";
import type { ReceivedReply } from "./events.js";
import { onceEach, type Warn } from "./problems.js";
import { isOverAfter, ReplyReader } from "./reply-reader.js";
import type { WorkerChannel } from "./worker-channel.js";

export type ReplyListener = (
	channelDirectory: string,
	reply: ReceivedReply,
) => void;

/** Watches a directory for new files; calls `onError` if it cannot. */
export type OpenReplyWatcher = (
	directory: string,
	onHint: () => void,
	onError: (error: unknown) => void,
) => { close(): unknown };

interface Watched {
	readonly channel: WorkerChannel;
	readonly reader: ReplyReader;
	watcher: ReturnType<OpenReplyWatcher> | undefined;
}

/** Systems remove temporary files that nobody has touched for some days. */
const TOUCH_MS = 60 * 60 * 1000;

/** How long to read before other work gets as much time, in milliseconds. */
const TURN_MS = 5;

/**
 * Delivers the replies in all channels of a root, present and future. A notification only says where to read. A slow poll
 * reads all channels; a faster one replaces a missing watcher. The channels take turns, so that no worker keeps the
 * launcher, or the replies of others, waiting.
 */
export class ReplyWatch {
	private readonly clock: Clock;
	private readonly warn: Warn;
	private readonly poll: Poll;
	private state: "watching" | "polling" | "closed" = "watching";
	/** Undefined before it is loaded, and after it has failed. */
	private openWatcher: OpenReplyWatcher | undefined;
	/** By channel directory. */
	private readonly watched = new Map<string, Watched>();
	/** The channels to read next. */
	private readonly due = new Set<Watched>();
	/** Undefined if neither a turn goes on nor a rest after it. */
	private cancelTurn: (() => void) | undefined;
	private touchAt: number;

	constructor(
		private readonly root: ChannelRoot,
		private readonly onReply: ReplyListener,
		/** The clock's timers decide whether the watch keeps the process alive. */
		options: {
			readonly clock: Clock;
			readonly warn: (message: string) => void;
		},
	) {
		this.clock = options.clock;
		this.warn = onceEach(options.warn);
		this.poll = new Poll(this.clock, () => this.onPoll());
		this.touchAt = this.clock.now() + TOUCH_MS;
	}

	/** Starts watching; only polls if there is no watcher. Channels can be read before that. */
	async open(loadWatcher = loadChokidar): Promise<void> {
		this.poll.every(POLL_MS);
		try {
			const openWatcher = await loadWatcher(this.root.directory);
			if (this.state === "watching") this.openWatcher = openWatcher;
			this.follow();
		} catch (error) {
			this.fallBack(error);
		}
		this.readAll();
	}

	/** Watches the present channels. Without this call the next poll does it. */
	follow(): void {
		const channels = this.root.channels();
		for (const [directory, one] of this.watched) {
			if (channels.includes(one.channel)) continue;
			this.watched.delete(directory);
			this.due.delete(one);
			one.reader.close();
			unwatch(one);
		}
		for (const channel of channels) {
			const one = this.watchedOf(channel);
			if (one.reader.isCrowded) continue;
			one.watcher ??= this.openWatcher?.(
				channel.replies,
				() => this.read([one]),
				(error) => this.fallBack(error),
			);
			// It may have failed already.
			if (this.openWatcher === undefined) unwatch(one);
		}
	}

	/** Delivers the replies in one channel. Call it before the channel of an ended worker is removed. */
	readNow(directory: string): void {
		if (this.state === "closed") return;
		const channels = this.root.channels();
		const channel = channels.find((one) => one.directory === directory);
		if (channel) this.watchedOf(channel).reader.readNow();
	}

	/** Ends the watch; nothing is delivered after the call. */
	close(): void {
		this.state = "closed";
		this.poll.stop();
		this.cancelTurn?.();
		this.due.clear();
		for (const { reader } of this.watched.values()) reader.close();
		this.closeWatchers();
	}

	private watchedOf(channel: WorkerChannel): Watched {
		const { directory } = channel;
		const known = this.watched.get(directory);
		if (known) return known;
		const deliver = (reply: ReceivedReply) => {
			if (this.state !== "closed") this.onReply(directory, reply);
		};
		const reader = new ReplyReader(directory, this.clock, deliver, this.warn);
		const one = { channel, reader, watcher: undefined };
		this.watched.set(directory, one);
		return one;
	}

	private fallBack(error: unknown): void {
		// A failing watcher reports each path; the first report is enough.
		if (this.state !== "watching") return;
		this.state = "polling";
		this.warn(
			`${this.root.directory} is looked at each ${SOLE_POLL_MS} ms, for want of notifications: ${messageOf(error)}.`,
		);
		this.poll.every(SOLE_POLL_MS);
		this.closeWatchers();
	}

	private closeWatchers(): void {
		this.openWatcher = undefined;
		for (const one of this.watched.values()) unwatch(one);
	}

	private onPoll(): void {
		this.follow();
		this.readAll();
		if (this.clock.now() < this.touchAt) return;
		this.touchAt = this.clock.now() + TOUCH_MS;
		touchTree(this.root.directory, this.clock.wallTime());
	}

	private readAll(): void {
		const channels = this.root.channels();
		this.read(channels.map((channel) => this.watchedOf(channel)));
	}

	/** Reads now, or when it is their turn. */
	private read(some: readonly Watched[]): void {
		if (this.state === "closed") return;
		for (const one of some) this.due.add(one);
		if (this.cancelTurn === undefined) this.takeTurn();
	}

	/** A channel with more to read goes to the end of the row. */
	private takeTurn(): void {
		// A listener may cause a notification.
		this.cancelTurn = () => {};
		const begun = this.clock.now();
		const isOver = isOverAfter(TURN_MS, this.clock);
		for (const one of this.due) {
			this.due.delete(one);
			if (!one.reader.read(isOver)) this.due.add(one);
			if (one.reader.isCrowded) unwatch(one);
			if (isOver()) break;
		}
		this.cancelTurn = undefined;
		if (this.due.size === 0) return;
		const now = this.clock.now();
		this.cancelTurn = this.clock.wakeAt(now + now - begun, () =>
			this.takeTurn(),
		);
	}
}

function unwatch(one: Watched): void {
	one.watcher?.close();
	one.watcher = undefined;
}

/** Loads the package on first use, after the first workers were started. */
async function loadChokidar(directory: string): Promise<OpenReplyWatcher> {
	const fileSystem = networkFileSystemOf(directory);
	if (fileSystem !== undefined) {
		throw new Error(`it is on a network file system (${fileSystem})`);
	}
	const { watch } = await import("chokidar");
	return (replies, onHint, onError) => {
		const watcher = watch(replies, {
			persistent: false,
			followSymlinks: false,
			usePolling: false,
			depth: 0,
			// Otherwise it would stat and watch each reply when it lists the directory.
			ignored: (path) => path !== replies,
		});
		watcher.on("all", onHint);
		// The kernel's own event, before chokidar lists the directory. A reply that is removed at once spares chokidar
		// milliseconds per file.
		watcher.on("raw", onHint);
		// A reply may have come before the kernel watched.
		watcher.on("ready", onHint);
		watcher.on("error", onError);
		return {
			close() {
				const closing = watcher.close();
				// chokidar has removed all listeners, but a running check may still fail.
				watcher.on("error", () => {});
				return closing;
			},
		};
	};
}
