import { networkFileSystemOf } from "./network-file-system.js";

export interface ReplyWatcher {
	close(): Promise<void>;
}

/** Asks for notifications of what comes into a directory; calls `onError` where there are none. */
export type OpenReplyWatcher = (
	directory: string,
	onHint: () => void,
	onError: (error: unknown) => void,
) => ReplyWatcher;

/** Loaded only when it is needed: after the first workers were started. */
export async function loadChokidar(
	directory: string,
): Promise<OpenReplyWatcher> {
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
		});
		watcher.on("all", onHint);
		// The kernel's own word, before chokidar has listed the directory: what is taken out
		// of it at once need not be looked at by chokidar, which takes milliseconds a file.
		watcher.on("raw", onHint);
		watcher.on("error", onError);
		return watcher;
	};
}
