import { networkFileSystemOf } from "./network-file-system.js";

export interface ReplyWatcher {
	close(): Promise<void>;
}

/** Watches a directory for new files; calls `onError` if it cannot. */
export type OpenReplyWatcher = (
	directory: string,
	onHint: () => void,
	onError: (error: unknown) => void,
) => ReplyWatcher;

/** Loads the package on first use, after the first workers were started. */
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
			// Otherwise it would stat and watch each reply when it lists the directory.
			ignored: (path) => path !== replies,
		});
		watcher.on("all", onHint);
		// The kernel's own event, before chokidar lists the directory. A reply that is removed at once spares chokidar
		// milliseconds per file.
		watcher.on("raw", onHint);
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
