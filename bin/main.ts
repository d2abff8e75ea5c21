import { packageVersion } from "../src/package-files.js";
import { helpText, parseArguments } from "./command-line.js";
import { isCommandWord, runCommandWord } from "./commands/command-words.js";
import { run } from "./commands/run.js";
import { keepConsoleHarmless, print, say } from "./console.js";
import { expectResult, reportCrashes, reportError } from "./crash.js";
import { exitWhenWritten, outliveTerminals } from "./exit.js";
import { ownPipes } from "./own-pipes.js";

/** Does what the arguments ask for, and ends the process with its exit code. */
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
	const line = parseArguments(args);
	if (line.asksFor === "help") return show(helpText());
	if (line.asksFor === "version") return show(`${packageVersion()}\n`);
	for (const note of line.notes) say(`note: ${note}`);
	return run(line);
}

function show(text: string): number {
	print(text);
	return 0;
}
