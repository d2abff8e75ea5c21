import { sep } from "node:path";
import type { Clock } from "../clock.js";
import { messageOf } from "../errors.js";
import type { ChannelRoot } from "./channel-root.js";
import { networkFileSystemOf } from "./network-file-system.js";
import { onceEach } from "./once-each.js";
import { POLL_MS, Poll, SOLE_POLL_MS } from "./poll.js";
import { QuietChannels } from "./quiet-channels.js";
import { type ReplyListener, ReplyReader } from "./reply-reader.js";
import { touchTree } from "./touch-tree.js";

/** Asks for notifications of a root's replies; rejects or calls `onError` where there are none. `onHint` gets a path of the channel concerned. */
export type OpenReplyWatcher = (
	directory: string,
	onHint: (path: string) => void,
	onError: (error: unknown) => void,
) => Promise<{ close(): Promise<void> }>;

export interface WatchRepliesOptions {
	/** Its timers decide whether the watch keeps the process alive. */
	readonly clock: Clock;
	/** Called with what the user should know: a reply that cannot be read, no watcher to be had. */
	readonly warn: (message: string) => void;
	/** chokidar unless given. */
	readonly openWatcher?: OpenReplyWatcher;
}

/** Systems remove from their temporary directories what nobody has touched for some days. */
const TOUCH_MS = 60 * 60 * 1000;

/** How long after a notification to look once more, in milliseconds: chokidar drops what follows another too closely. */
const TRAILING_LOOK_MS = 60;

/** Below a root only channels, their replies directories and the replies are watched: a watch costs memory in the kernel. */
const WATCHED = /^(w\d+\.\d+(\/replies(\/\d{10}\.json)?)?)?$/;

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
	await watch.open(options.openWatcher ?? openChokidar);
	return watch;
}

export class ReplyWatch {
	readonly #root: ChannelRoot;
	readonly #clock: Clock;
	readonly #warn: (message: string) => void;
	readonly #reader: ReplyReader;
	readonly #quiet = new QuietChannels();
	readonly #poll: Poll;
	#watcher: { close(): Promise<void> } | undefined;
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

	/** Starts; where `openWatcher` fails, by polling alone. */
	async open(openWatcher: OpenReplyWatcher): Promise<void> {
		const { directory } = this.#root;
		this.#poll.every(POLL_MS);
		try {
			const watcher = await openWatcher(
				directory,
				(path) => this.#onHint(path),
				(error) => this.#fallBack(error),
			);
			if (this.#state === "watching") this.#watcher = watcher;
			else await watcher.close();
		} catch (error) {
			this.#fallBack(error);
		}
		this.#look();
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
		await this.#watcher?.close();
	}

	#fallBack(error: unknown): void {
		// A watcher that fails reports it for each path; the first time will do.
		if (this.#state !== "watching") return;
		this.#state = "polling";
		this.#warn(
			`${this.#root.directory} is looked at each ${SOLE_POLL_MS} ms, for want of notifications: ${messageOf(error)}.`,
		);
		this.#poll.every(SOLE_POLL_MS);
		void this.#watcher?.close();
	}

	#onHint(path: string): void {
		this.#look(path);
		this.#cancelTrailingLook ??= this.#clock.wakeAt(
			this.#clock.now() + TRAILING_LOOK_MS,
			() => {
				this.#cancelTrailingLook = undefined;
				this.#look();
			},
		);
	}

	#onPoll(): void {
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

	/** Looks at the channel that a path lies in, or at all of them. */
	#look(path?: string): void {
		for (const { directory } of this.#root.channels()) {
			if (path === undefined || `${path}${sep}`.startsWith(directory + sep)) {
				this.#readInTurns(directory);
			}
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

/** Loaded only when it is needed: after the first workers were started. */
const openChokidar: OpenReplyWatcher = async (directory, onHint, onError) => {
	const fileSystem = networkFileSystemOf(directory);
	if (fileSystem !== undefined) {
		throw new Error(`it is on a network file system (${fileSystem})`);
	}
	const { watch } = await import("chokidar");
	const watcher = watch(directory, {
		persistent: false,
		followSymlinks: false,
		usePolling: false,
		depth: 2,
		ignored: (path) => !WATCHED.test(path.slice(directory.length + 1)),
	});
	watcher.on("all", (_event, path) => onHint(path));
	watcher.on("error", onError);
	return watcher;
};
