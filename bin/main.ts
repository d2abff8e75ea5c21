import { constants, fstatSync, openSync } from "node:fs";
import { Socket } from "node:net";
import { launchLine } from "./commands/run.js";
import { isCommandWord, runCommandWord } from "./commands.js";
import {
	exitWhenWritten,
	keepConsoleHarmless,
	outliveTerminals,
} from "./console.js";
import { expectResult, reportCrashes, reportError } from "./crash.js";

/** Runs the command and ends the process with its exit code. */
export async function main(args: readonly string[]): Promise<void> {
	ownPipes();
	keepConsoleHarmless();
	outliveTerminals();
	reportCrashes();
	const hasResult = expectResult();
	const exitCode = await dispatch(args).catch(reportError);
	hasResult();
	exitWhenWritten(exitCode);
}

async function dispatch(args: readonly string[]): Promise<number> {
	const [first = "", ...others] = args;
	if (isCommandWord(first)) return runCommandWord(first, others);
	return launchLine(args);
}

/**
 * Reopens stdout and stderr, if they are pipes, for this process alone. Non-blocking mode belongs to the open pipe, which
 * all processes that inherited it share. A worker that writes to the console itself, or another Node program that ends,
 * would reset it. Then a reader that has stopped would block the launcher, which could not handle signals. Others also
 * keep the mode that they expect. Call it before either stream is used.
 *
 * If a pipe cannot be reopened (no /proc, another user's, no reader), it stays shared.
 */
function ownPipes(): void {
	own("stdout", 1);
	own("stderr", 2);
}

function own(name: "stdout" | "stderr", descriptor: 1 | 2): void {
	const fd = reopen(descriptor);
	if (fd === undefined) return;
	const stream = new Socket({ fd, readable: false, writable: true });
	Object.defineProperty(process, name, { value: stream });
}

function reopen(descriptor: number): number | undefined {
	try {
		if (!fstatSync(descriptor).isFIFO()) return undefined;
		return openSync(
			`/proc/self/fd/${descriptor}`,
			constants.O_WRONLY | constants.O_NONBLOCK,
		);
	} catch {
		return undefined;
	}
}
