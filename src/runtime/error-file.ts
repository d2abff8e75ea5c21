import { dirname } from "node:path";
import { isMainThread } from "node:worker_threads";
import { replaceFile } from "../channel/message-file.js";
import { systemClock } from "../clock.js";
import { errorFile } from "./environment.js";
import { errorFileText } from "./error-description.js";
import { sharedState } from "./shared-state.js";

/** Writes the error file, whole or not at all. Does nothing outside of a launcher. Throws the system's error where the disk does not take it. */
export function writeErrorFile(error: unknown, origin: string): void {
	const path = errorFile();
	if (path === undefined) return;
	const text = errorFileText(error, systemClock.wallTime(), origin);
	replaceFile(path, text, dirname(path));
}

/**
 * From now on whatever ends this process by being thrown is written to the
 * error file first; what Node does about it stays as it is. Once a process, and
 * only under a launcher. What a thread throws reaches its parent, who may handle it.
 */
export function recordUncaughtErrors(): void {
	const state = sharedState();
	if (state.recordsErrors || !isMainThread || errorFile() === undefined) return;
	state.recordsErrors = true;
	process.on("uncaughtExceptionMonitor", (error, origin) => {
		try {
			writeErrorFile(error, origin);
		} catch {
			// The error that ends this process must not be hidden by one of ours.
		}
	});
}
