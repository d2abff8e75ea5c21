import { dirname } from "node:path";
import { isMainThread } from "node:worker_threads";
import { systemClock } from "../base/clock.js";
import { replaceFile } from "../channel/index.js";
import { errorFile } from "./environment.js";
import { errorFileText } from "./error-description.js";
import { sharedState } from "./shared-state.js";

/** Writes the error file, whole or not at all. Does nothing without a launcher. Throws the system's error if the disk refuses. */
export function writeErrorFile(error: unknown, origin: string): void {
	const path = errorFile();
	if (path === undefined) return;
	const text = errorFileText(error, systemClock.wallTime(), origin);
	replaceFile(path, text, dirname(path));
}

/**
 * From now on an uncaught error is first written to the error file; Node's reaction to it stays the same. Works once per
 * process, and only under a launcher. A thread's error goes to its parent, which may handle it.
 */
export function recordUncaughtErrors(): void {
	const state = sharedState();
	if (state.recordsErrors || !isMainThread || errorFile() === undefined) return;
	state.recordsErrors = true;
	process.on("uncaughtExceptionMonitor", (error, origin) => {
		try {
			writeErrorFile(error, origin);
		} catch {
			// An error here must not hide the one that ends this process.
		}
	});
}
