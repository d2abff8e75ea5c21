import { isCommandWord, runCommandWord } from "./commands/command-words.js";
import { launchLine } from "./commands/launch.js";
import { keepConsoleHarmless } from "./console.js";
import { expectResult, reportCrashes, reportError } from "./crash.js";
import { exitWhenWritten, outliveTerminals } from "./exit.js";
import { ownPipes } from "./own-pipes.js";

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
