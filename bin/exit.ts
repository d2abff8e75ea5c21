import { closeSync, openSync } from "node:fs";
import { isatty } from "node:tty";
import { systemClock } from "../src/base/clock.js";
import { EXIT_CODES } from "../src/base/errors.js";
import { isPrintLost, say } from "./console.js";

/** How long to wait for a slow reader, but not for one that reads nothing. */
const PATIENCE_MS = 1_000;

const haste = new AbortController();

/** Ends the process once everything written was handed to the system. */
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
		// After the messages about a failure.
		setImmediate(() => process.stderr.write("", end));
	});
}

/** The end of the process waits at most a second for readers of its output. */
export function hurryToExit(): void {
	haste.abort();
}

/**
 * At its end Node resets the mode of its terminals, and crashes if one is gone (a closed window, a lost connection),
 * which would lose the exit code.
 */
export function outliveTerminals(): void {
	const terminals = [0, 1, 2].filter((descriptor) => isatty(descriptor));
	process.once("exit", () => {
		for (const terminal of terminals) {
			if (!isatty(terminal)) replaceByNothing(terminal);
		}
	});
}

/** The next opened file gets the number that has just become free. */
function replaceByNothing(descriptor: number): void {
	try {
		closeSync(descriptor);
		openSync("/dev/null", "r+");
	} catch {
		// Node does not treat a closed one as a terminal.
	}
}
