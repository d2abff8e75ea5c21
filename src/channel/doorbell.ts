import { execFile } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";

const OPEN_TO_RING =
	constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/**
 * Makes doorbells, without waiting for it: Node cannot make a FIFO by itself. A
 * doorbell tells a worker that there may be news in its channel. Nothing is ever
 * written into it: who opens it for writing and closes it ends the stream of all who
 * read it. Where there is none, or it is not heard, the news is found by other means.
 */
export function installDoorbells(paths: readonly string[]): void {
	// Elsewhere a FIFO that nobody has written to looks to its readers like one that has been.
	if (paths.length === 0 || process.platform !== "linux") return;
	execFile("mkfifo", ["-m", "600", ...paths], () => {});
}

export function ringDoorbell(path: string): void {
	try {
		closeSync(openSync(path, OPEN_TO_RING));
	} catch {
		// Nobody is at the door, or there is none.
	}
}
