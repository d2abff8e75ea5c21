import { closeSync, openSync } from "node:fs";
import { isatty } from "node:tty";
import { systemClock } from "../src/clock.js";
import { EXIT_CODES } from "../src/errors.js";
import { isPrintLost, say } from "./console.js";

/** For a reader that is slow: one that reads nothing has had its time. */
const PATIENCE_MS = 1_000;

const haste = new AbortController();

/** Ends the process once everything that was written has been handed to the system. */
export function exitWhenWritten(exitCode: number): void {
	process.exitCode = exitCode;
	const end = () =>
		process.exit(exitCode || (isPrintLost() ? EXIT_CODES.failed : 0));
	const endSoon = () => {
		systemClock.wakeAt(systemClock.now() + PATIENCE_MS, () => {
			if (process.stdout.writableLength > 0)
				say(
					"the rest of stdout is lost: it was not read within a second of the signal",
				);
			end();
		});
	};
	if (haste.signal.aborted) endSoon();
	else haste.signal.addEventListener("abort", endSoon);
	process.stdout.write("", () => {
		// Not before what is said of a failure.
		setImmediate(() => process.stderr.write("", end));
	});
}

/** The end of the process waits no longer than a second for who reads what was written. */
export function hurryToExit(): void {
	haste.abort();
}

/**
 * Node puts its terminals into their former mode when it ends, and crashes over one that is
 * gone (a window that was closed, a connection that was lost): its exit code would be lost.
 */
export function outliveTerminals(): void {
	const terminals = [0, 1, 2].filter((descriptor) => isatty(descriptor));
	process.once("exit", () => {
		for (const terminal of terminals) {
			if (!isatty(terminal)) replaceByNothing(terminal);
		}
	});
}

/** What is opened gets the number that has just become free. */
function replaceByNothing(descriptor: number): void {
	try {
		closeSync(descriptor);
		openSync("/dev/null", "r+");
	} catch {
		// One that is closed is no terminal to Node either.
	}
}
