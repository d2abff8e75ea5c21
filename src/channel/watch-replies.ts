import type { Clock } from "../base/clock.js";
import { messageOf } from "../base/errors.js";
import type { ChannelRoot } from "./channel-root.js";
import type { ReceivedReply } from "./events.js";
import { onceEach, type Warn } from "./once-each.js";
import { POLL_MS, Poll, SOLE_POLL_MS } from "./poll.js";
import { ReplyTurns } from "./reply-turns.js";
import {
	loadChokidar,
	type OpenReplyWatcher,
	type ReplyWatcher,
} from "./reply-watcher.js";
import { touchTree } from "./touch-tree.js";
import type { WorkerChannel } from "./worker-channel.js";

/** Receives one reply and the directory of its channel. */
export type ReplyListener = (
	channelDirectory: string,
	reply: ReceivedReply,
) => void;

export interface WatchRepliesOptions {
	/** Its timers decide whether the watch keeps the process alive. */
	readonly clock: Clock;
	/** Called with warnings for the user: an unreadable reply, no watcher. */
	readonly warn: (message: string) => void;
	/** Resolves with the function that opens watchers below a directory, or rejects if there is none. Default: chokidar. */
	readonly loadWatcher?: (directory: string) => Promise<OpenReplyWatcher>;
}

/** Systems remove temporary files that nobody has touched for some days. */
const TOUCH_MS = 60 * 60 * 1000;

/** How long after a notification to look once more, in milliseconds: chokidar drops some that come close together. */
const TRAILING_LOOK_MS = 60;

/**
 * Delivers the replies in all channels of `root`, present and future. A notification only says where to look. A slow poll
 * looks at every channel; a faster one replaces a missing watcher.
 */
export async function watchReplies(
	root: ChannelRoot,
	onReply: ReplyListener,
	options: WatchRepliesOptions,
): Promise<ReplyWatch> {
	const watch = new ReplyWatch(root, onReply, options);
	await watch.open(options.loadWatcher);
	return watch;
}

export class ReplyWatch {
	private readonly clock: Clock;
	private readonly warn: Warn;
	private readonly poll: Poll;
	/** Undefined before it is loaded, and after it has failed. */
	private openWatcher: OpenReplyWatcher | undefined;
	/** Both by channel directory. */
	private readonly turns = new Map<string, ReplyTurns>();
	private readonly watchers = new Map<string, ReplyWatcher>();
	private state: "watching" | "polling" | "closed" = "watching";
	private touchAt: number;
	private cancelTrailingLook: (() => void) | undefined;

	constructor(
		private readonly root: ChannelRoot,
		private readonly onReply: ReplyListener,
		{ clock, warn }: WatchRepliesOptions,
	) {
		this.clock = clock;
		this.warn = onceEach(warn);
		this.poll = new Poll(clock, () => this.onPoll());
		this.touchAt = clock.now() + TOUCH_MS;
	}

	/** Starts watching; only polls if there is no watcher. Channels can be read before that. */
	async open(
		loadWatcher: (
			directory: string,
		) => Promise<OpenReplyWatcher> = loadChokidar,
	): Promise<void> {
		this.poll.every(POLL_MS);
		try {
			const openWatcher = await loadWatcher(this.root.directory);
			if (this.state === "watching") this.openWatcher = openWatcher;
			this.follow();
		} catch (error) {
			this.fallBack(error);
		}
		this.look();
	}

	/** Watches the present channels. Without this call the next poll does it. */
	follow(): void {
		const channels = this.root.channels();
		const open = new Set(channels.map(({ directory }) => directory));
		for (const [directory, turns] of this.turns) {
			if (open.has(directory)) continue;
			this.turns.delete(directory);
			turns.close();
		}
		for (const directory of this.watchers.keys()) {
			const isOpen = open.has(directory);
			if (isOpen && this.turns.get(directory)?.isCrowded !== true) continue;
			this.unwatch(directory);
		}
		for (const channel of channels) {
			if (this.watchers.has(channel.directory)) continue;
			if (!this.turnsOf(channel).isCrowded) this.watch(channel);
		}
	}

	private unwatch(directory: string): void {
		const watcher = this.watchers.get(directory);
		this.watchers.delete(directory);
		void watcher?.close();
	}

	private watch({ directory, replies }: WorkerChannel): void {
		const watcher = this.openWatcher?.(
			replies,
			() => this.onHint(directory),
			(error) => this.fallBack(error),
		);
		if (watcher === undefined) return;
		// Not if it has failed already.
		if (this.openWatcher) this.watchers.set(directory, watcher);
		else void watcher.close();
	}

	/** Delivers the replies in one channel. Call it before the channel of an ended worker is removed. */
	readNow(directory: string): void {
		this.find(directory)?.readNow();
	}

	/** Ends the watch; nothing is delivered after the call. */
	async close(): Promise<void> {
		this.state = "closed";
		this.poll.stop();
		this.cancelTrailingLook?.();
		for (const turns of this.turns.values()) turns.close();
		await this.closeWatchers();
	}

	private fallBack(error: unknown): void {
		// A failing watcher reports each path; the first report is enough.
		if (this.state !== "watching") return;
		this.state = "polling";
		this.warn(
			`${this.root.directory} is looked at each ${SOLE_POLL_MS} ms, for want of notifications: ${messageOf(error)}.`,
		);
		this.poll.every(SOLE_POLL_MS);
		void this.closeWatchers();
	}

	private async closeWatchers(): Promise<void> {
		this.openWatcher = undefined;
		const watchers = [...this.watchers.values()];
		this.watchers.clear();
		await Promise.all(watchers.map((watcher) => watcher.close()));
	}

	private onHint(directory: string): void {
		const turns = this.find(directory);
		turns?.look();
		// A crowded channel is polled.
		if (turns?.isCrowded) this.unwatch(directory);
		this.cancelTrailingLook ??= this.clock.wakeAt(
			this.clock.now() + TRAILING_LOOK_MS,
			() => {
				this.cancelTrailingLook = undefined;
				this.look();
			},
		);
	}

	private onPoll(): void {
		this.follow();
		for (const channel of this.root.channels()) {
			const turns = this.turnsOf(channel);
			// Without notifications the change times may be unreliable as well.
			if (this.state === "polling") turns.look();
			else turns.lookIfChanged();
			turns.readProgress();
		}
		if (this.clock.now() < this.touchAt) return;
		this.touchAt = this.clock.now() + TOUCH_MS;
		touchTree(this.root.directory, this.clock.wallTime());
	}

	private look(): void {
		if (this.state === "closed") return;
		for (const channel of this.root.channels()) this.turnsOf(channel).look();
	}

	private find(directory: string): ReplyTurns | undefined {
		if (this.state === "closed") return undefined;
		const channels = this.root.channels();
		const channel = channels.find((one) => one.directory === directory);
		return channel && this.turnsOf(channel);
	}

	private turnsOf(channel: WorkerChannel): ReplyTurns {
		const { directory } = channel;
		const known = this.turns.get(directory);
		if (known) return known;
		const turns = new ReplyTurns(
			channel,
			this.clock,
			(reply) => this.onReply(directory, reply),
			this.warn,
		);
		this.turns.set(directory, turns);
		return turns;
	}
}
