import { closeSync } from "node:fs";
import { join } from "node:path";
import type { HeldFile } from "./held-file.js";

export interface WorkerLogs {
	readonly directory: string;
	/** Where the worker may write its error: `TORCHELASTIC_ERROR_FILE`. It does not exist yet. */
	readonly errorFile: string;
	/** Undefined if the stream is not redirected. */
	readonly stdout: LogStream | undefined;
	readonly stderr: LogStream | undefined;
	/** Closes this process's descriptors after the spawn. */
	closeDescriptors(): void;
	/** Nobody will read the streams any more. */
	letGo(): void;
}

export interface LogStream {
	/** Open for appending. */
	readonly fd: number;
	readonly path: string;
	/** The file's size before, in bytes: a tail begins here. */
	readonly startBytes: number;
	/** For reading, even after it was removed or renamed. */
	readonly file: HeldFile;
}

/** The files opened for one worker in this directory. */
export function workerLogs(
	directory: string,
	stdout: LogStream | undefined,
	stderr: LogStream | undefined,
): WorkerLogs {
	const open = new Set([stdout?.fd, stderr?.fd]);
	return {
		directory,
		errorFile: join(directory, "error.json"),
		stdout,
		stderr,
		closeDescriptors() {
			for (const fd of open) if (fd !== undefined) closeSync(fd);
			open.clear();
		},
		letGo() {
			stdout?.file.close();
			stderr?.file.close();
		},
	};
}
