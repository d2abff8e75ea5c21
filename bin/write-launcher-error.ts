import { closeSync, constants, openSync, writeSync } from "node:fs";
import { systemClock } from "../src/base/clock.js";
import { messageOf } from "../src/base/errors.js";
import { launcherErrorText } from "../src/report/launcher-error.js";
import type { RunReport } from "../src/report/run-report.js";
import { say } from "./console.js";

// A pipe without a reader must not delay the end.
const FLAGS =
	constants.O_WRONLY |
	constants.O_CREAT |
	constants.O_TRUNC |
	constants.O_NONBLOCK;

/**
 * Writes the root cause of a failed run to the launcher's TORCHELASTIC_ERROR_FILE, which a scheduler may have named. It
 * writes in place: Kubernetes mounts such a file alone.
 */
export function writeLauncherError(report: RunReport, path: string): void {
	const text = launcherErrorText(report, systemClock.wallTime());
	if (text === undefined) return;
	try {
		const file = openSync(path, FLAGS, 0o644);
		try {
			writeSync(file, text);
		} finally {
			closeSync(file);
		}
	} catch (error) {
		say(
			`warning: the root cause cannot be written to TORCHELASTIC_ERROR_FILE: ${messageOf(error)}; name a file in a directory that this user may write`,
		);
	}
}
