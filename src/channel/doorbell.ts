import { execFile } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";

const OPEN_TO_RING =
	constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/**
 * Starts making doorbells and does not wait: Node cannot make a FIFO by itself. A doorbell tells a worker that there may
 * be news in its channel. Nothing is ever written into it: opening it for writing and closing it ends the stream of all
 * readers. Without it workers find the news by other means.
 */
export function installDoorbells(paths: readonly string[]): void {
	// On other systems a reader cannot tell a fresh FIFO from one that was rung.
	if (paths.length === 0 || process.platform !== "linux") return;
	execFile("mkfifo", ["-m", "600", ...paths], () => {});
}

export function ringDoorbell(path: string): void {
	try {
		closeSync(openSync(path, OPEN_TO_RING));
	} catch {
		// Nobody listens, or there is no doorbell.
	}
}
