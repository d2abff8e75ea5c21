import type { Clock } from "../clock.js";
import { messageOf } from "../errors.js";
import type { ChannelRoot } from "./channel-root.js";
import { onceEach, type Warn } from "./once-each.js";
import { POLL_MS, Poll, SOLE_POLL_MS } from "./poll.js";
import { QuietChannels } from "./quiet-channels.js";
import { type ReplyListener, ReplyReader } from "./reply-reader.js";
import {
	loadChokidar,
	type OpenReplyWatcher,
	type ReplyWatcher,
} from "./reply-watcher.js";
import { touchTree } from "./touch-tree.js";
import type { WorkerChannel } from "./worker-channel.js";

export interface WatchRepliesOptions {
	/** Its timers decide whether the watch keeps the process alive. */
	readonly clock: Clock;
	/** Called with what the user should know: a reply that cannot be read, no watcher to be had. */
	readonly warn: (message: string) => void;
	/** Resolves with what is to open watchers below a directory, or rejects where none are to be had; chokidar unless given. */
	readonly loadWatcher?: (directory: string) => Promise<OpenReplyWatcher>;
}

/** Systems remove from their temporary directories what nobody has touched for some days. */
const TOUCH_MS = 60 * 60 * 1000;

/** How long after a notification to look once more, in milliseconds: chokidar drops what follows another too closely. */
const TRAILING_LOOK_MS = 60;

/**
 * Delivers what the workers say in the channels that `root` has, now and later.
 * A notification says only where to look; a slow poll looks at every channel,
 * and a faster one where no watcher is to be had.
 */
export async function watchReplies(
	root: ChannelRoot,
	onReply: ReplyListener,
	options: WatchRepliesOptions,
): Promise<ReplyWatch> {
	const watch = new ReplyWatch(root, onReply, options);
	await watch.open(options.loadWatcher ?? loadChokidar);
	return watch;
}

export class ReplyWatch {
	readonly #root: ChannelRoot;
	readonly #clock: Clock;
	readonly #warn: Warn;
	readonly #reader: ReplyReader;
	readonly #quiet = new QuietChannels();
	readonly #poll: Poll;
	/** Undefined before it is loaded, and once none are to be had. */
	#openWatcher: OpenReplyWatcher | undefined;
	/** By the directory of the channel. */
	readonly #watchers = new Map<string, ReplyWatcher>();
	#state: "watching" | "polling" | "closed" = "watching";
	#touchAt: number;
	#cancelTrailingLook: (() => void) | undefined;

	constructor(
		root: ChannelRoot,
		onReply: ReplyListener,
		{ clock, warn }: WatchRepliesOptions,
	) {
		this.#root = root;
		this.#clock = clock;
		this.#warn = onceEach(warn);
		this.#reader = new ReplyReader(onReply, this.#warn);
		this.#poll = new Poll(clock, () => this.#onPoll());
		this.#touchAt = clock.now() + TOUCH_MS;
	}

	/** Starts; where no watcher is to be had, by polling alone. */
	async open(
		loadWatcher: (directory: string) => Promise<OpenReplyWatcher>,
	): Promise<void> {
		this.#poll.every(POLL_MS);
		try {
			const openWatcher = await loadWatcher(this.#root.directory);
			if (this.#state === "watching") this.#openWatcher = openWatcher;
			this.follow();
		} catch (error) {
			this.#fallBack(error);
		}
		this.#look();
	}

	/** Watches the channels that processes have now; who does not call it finds that done by the next poll. */
	follow(): void {
		const channels = this.#root.channels();
		const open = new Set(channels.map(({ directory }) => directory));
		for (const [directory, watcher] of this.#watchers) {
			if (open.has(directory)) continue;
			this.#watchers.delete(directory);
			void watcher.close();
		}
		for (const channel of channels) {
			if (!this.#watchers.has(channel.directory)) this.#watch(channel);
		}
	}

	#watch({ directory, replies }: WorkerChannel): void {
		const watcher = this.#openWatcher?.(
			replies,
			() => this.#onHint(directory),
			(error) => this.#fallBack(error),
		);
		if (watcher === undefined) return;
		// Not if it has failed already.
		if (this.#openWatcher) this.#watchers.set(directory, watcher);
		else void watcher.close();
	}

	/** Delivers all that lies in one channel: call it before that of a worker that ended is removed. */
	readNow(directory: string): void {
		while (this.#isOpen(directory) && this.#reader.readSome(directory));
	}

	/** Ends the watch; nothing is delivered after the call. */
	async close(): Promise<void> {
		this.#state = "closed";
		this.#poll.stop();
		this.#cancelTrailingLook?.();
		await this.#closeWatchers();
	}

	#fallBack(error: unknown): void {
		// A watcher that fails reports it for each path; the first time will do.
		if (this.#state !== "watching") return;
		this.#state = "polling";
		this.#warn(
			`${this.#root.directory} is looked at each ${SOLE_POLL_MS} ms, for want of notifications: ${messageOf(error)}.`,
		);
		this.#poll.every(SOLE_POLL_MS);
		void this.#closeWatchers();
	}

	async #closeWatchers(): Promise<void> {
		this.#openWatcher = undefined;
		const watchers = [...this.#watchers.values()];
		this.#watchers.clear();
		await Promise.all(watchers.map((watcher) => watcher.close()));
	}

	#onHint(directory: string): void {
		this.#readInTurns(directory);
		this.#cancelTrailingLook ??= this.#clock.wakeAt(
			this.#clock.now() + TRAILING_LOOK_MS,
			() => {
				this.#cancelTrailingLook = undefined;
				this.#look();
			},
		);
	}

	#onPoll(): void {
		this.follow();
		// Who has no notifications may have no times to trust either.
		if (this.#state === "polling") this.#look();
		else this.#lookAtChanged();
		if (this.#clock.now() < this.#touchAt) return;
		this.#touchAt = this.#clock.now() + TOUCH_MS;
		touchTree(this.#root.directory, this.#clock.wallTime());
	}

	#lookAtChanged(): void {
		const wallTime = this.#clock.wallTime();
		for (const channel of this.#root.channels()) {
			this.#quiet.poll(channel, wallTime, () =>
				this.#readInTurns(channel.directory),
			);
		}
	}

	#look(): void {
		for (const { directory } of this.#root.channels()) {
			this.#readInTurns(directory);
		}
	}

	#readInTurns(directory: string): void {
		if (!this.#isOpen(directory) || !this.#reader.readSome(directory)) return;
		this.#clock.wakeAt(this.#clock.now(), () => this.#readInTurns(directory));
	}

	#isOpen(directory: string): boolean {
		return (
			this.#state !== "closed" &&
			this.#root.channels().some((one) => one.directory === directory)
		);
	}
}
