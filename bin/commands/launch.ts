import { stat } from "node:fs/promises";
import { packageVersion } from "../../src/base/package-files.js";
import { isStdinGiven } from "../../src/config/host.js";
import { helpText, parseArguments } from "../command-line.js";
import { print, say } from "../console.js";
import { nearestCommand, refuseWord } from "./command-table.js";
import { run } from "./run.js";

/** Launches a script with flags, or refuses a mistyped command. Returns the exit code. */
export async function launchLine(args: readonly string[]): Promise<number> {
	const [word = ""] = args;
	if (args.length === 1 && isMistakable(word)) {
		const found = await stat(word).catch(() => undefined);
		const isHere = found?.isFile() === true;
		const file = `to run the file here, use: elastic-run ./${word}; `;
		const here = isHere
			? ""
			: ` and no file here${found ? ", but a directory" : ""}`;
		return refuseWord(
			`"${word}" is no command of elastic-run${here}`,
			nearestCommand(word),
			`${isHere ? file : ""}to run the program ${word}, use: elastic-run run ${word}`,
		);
	}
	return launchNamed(args);
}

/** The same for `elastic-run run …`, which always means a launch. */
export async function launchNamed(args: readonly string[]): Promise<number> {
	const line = parseArguments(args);
	if (line.asksFor === "help") return show(helpText());
	if (line.asksFor === "version") return version();
	for (const note of line.notes) say(`note: ${note}`);
	if (line.warning !== undefined) say(`warning: ${line.warning}`);
	return run(line);
}

export function version(): number {
	return show(`${packageVersion()}\n`);
}

/**
 * Whether a word, typed alone, may be a mistyped command or a file here although it names a program of the system. With
 * input on stdin the program is meant: `seq 5 | elastic-run cat`.
 */
function isMistakable(word: string): boolean {
	return /^\w[\w-]*$/.test(word) && !isStdinGiven();
}

function show(text: string): number {
	print(text);
	return 0;
}
