import { statfsSync, watch } from "node:fs";
import { BEAT_MS, type Clock, onBeat } from "../base/clock.js";
import { messageOf } from "../base/errors.js";

/** The magic numbers of statfs(2), from linux/magic.h and the file systems' own sources. */
const NETWORK_FILE_SYSTEMS = new Map([
	[0x6969, "NFS"],
	[0x517b, "SMB"],
	[0xff534d42, "CIFS"],
	[0xfe534d42, "SMB2"],
	[0x65735546, "FUSE"],
	[0x01021997, "9p"],
	[0x5346414f, "AFS"],
	[0x6b414653, "kAFS"],
	[0x00c36400, "Ceph"],
	[0x0bd00bd0, "Lustre"],
	[0x47504653, "GPFS"],
	[0x19830326, "BeeGFS"],
	[0x73757245, "Coda"],
	[0x7461636f, "OCFS2"],
	[0x01161970, "GFS2"],
]);

/**
 * The name of the network file system at a path; undefined for a local one. Change notifications are not reliable on
 * network file systems.
 */
export function networkFileSystemOf(path: string): string | undefined {
	return process.platform === "linux"
		? networkFileSystemName(statfsSync(path).type)
		: undefined;
}

/** Looks the magic number up. statfs returns some of them sign-extended. */
export function networkFileSystemName(magic: number): string | undefined {
	return NETWORK_FILE_SYSTEMS.get(magic >>> 0);
}

/** How often to poll without a notification, in milliseconds: notifications may be lost. */
export const POLL_MS = BEAT_MS;

/** The same where there are no notifications. */
export const SOLE_POLL_MS = 150;

/** Calls `onPoll` repeatedly. The clock's timers decide whether that keeps the process alive. */
export class Poll {
	private cancel: () => void = () => {};

	constructor(
		private readonly clock: Clock,
		private readonly onPoll: () => void,
	) {}

	/** Starts, or changes the interval. */
	every(intervalMs: number): void {
		this.cancel();
		const dueAt = this.clock.now() + intervalMs;
		this.cancel = this.clock.wakeAt(onBeat(dueAt, intervalMs), () => {
			this.every(intervalMs);
			this.onPoll();
		});
	}

	stop(): void {
		this.cancel();
	}
}

/** Asks for notifications of a directory; throws or calls `onError` if there are none. */
export type OpenWatcher = (
	directory: string,
	onChange: () => void,
	onError: (error: unknown) => void,
) => { close(): void };

export interface WatchDirectoryOptions {
	/** Its timers decide whether the watch keeps the process alive. */
	readonly clock: Clock;
	/** Called once with the reason if there is no watcher. */
	readonly warn: (message: string) => void;
	/** Default: fs.watch. */
	readonly openWatcher?: OpenWatcher;
}

/**
 * Calls `onChange` when something in a directory may have changed: the caller finds out what, and must be able to do so
 * often. A slow poll backs up the watcher; a faster one replaces it if there is none. Returns a function that ends the
 * watch.
 */
export function watchDirectory(
	directory: string,
	onChange: () => void,
	options: WatchDirectoryOptions,
): () => void {
	const { clock, warn, openWatcher = openLocalWatcher } = options;
	const poll = new Poll(clock, onChange);
	let watcher: { close(): void } | undefined;

	const fallBack = (error: unknown) => {
		watcher?.close();
		watcher = undefined;
		warn(
			`${directory} is looked at each ${SOLE_POLL_MS} ms, for want of notifications: ${messageOf(error)}.`,
		);
		poll.every(SOLE_POLL_MS);
	};
	try {
		watcher = openWatcher(directory, onChange, fallBack);
		poll.every(POLL_MS);
	} catch (error) {
		fallBack(error);
	}
	return () => {
		watcher?.close();
		poll.stop();
	};
}

/** fs.watch, except on a network file system. */
export const openLocalWatcher: OpenWatcher = (directory, onChange, onError) => {
	const fileSystem = networkFileSystemOf(directory);
	if (fileSystem !== undefined) {
		throw new Error(`it is on a network file system (${fileSystem})`);
	}
	return watch(directory, { persistent: false }, onChange).on("error", onError);
};
