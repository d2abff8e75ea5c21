import { watch } from "node:fs";
import type { Clock } from "../base/clock.js";
import { messageOf } from "../base/errors.js";
import { networkFileSystemOf } from "./network-file-system.js";
import { POLL_MS, Poll, SOLE_POLL_MS } from "./poll.js";

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
 * Calls `lookAgain` when something in a directory may have changed, but not what: the caller looks, and must be able to
 * look often. A slow poll backs up the watcher; a faster one replaces it if there is none. Returns a function that ends
 * the watch.
 */
export function watchDirectory(
	directory: string,
	lookAgain: () => void,
	options: WatchDirectoryOptions,
): () => void {
	const { clock, warn, openWatcher = openLocalWatcher } = options;
	const poll = new Poll(clock, lookAgain);
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
		watcher = openWatcher(directory, lookAgain, fallBack);
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
