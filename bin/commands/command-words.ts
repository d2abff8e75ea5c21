import { EXIT_CODES } from "../../src/base/errors.js";
import { editDistance } from "../../src/base/nearest-name.js";
import { say } from "../console.js";
import { COMMANDS, type CommandName } from "./command-table.js";

/** Words that are commands in first position. A script with such a name must be written `./status`. */
const COMMAND_WORDS: readonly string[] = Object.keys(COMMANDS);

const LARGEST_SLIP = 2;

export function isCommandWord(word: string): word is CommandName {
	return Object.hasOwn(COMMANDS, word);
}

/** Returns the exit code. */
export async function runCommandWord(
	word: CommandName,
	args: readonly string[],
): Promise<number> {
	return COMMANDS[word].run(args);
}

/** The command that a word was probably meant to be. */
export function nearestCommand(word: string): string | undefined {
	const near = COMMAND_WORDS.map((command) => ({
		command,
		slips: editDistance(word, command),
	})).filter(
		({ slips }) => slips <= Math.min(LARGEST_SLIP, Math.floor(word.length / 3)),
	);
	return near.sort((one, other) => one.slips - other.slips)[0]?.command;
}

/** Says that a word is no command, which one is similar, and what else may be meant. Returns the exit code. */
export function refuseWord(
	problem: string,
	near: string | undefined,
	otherwise: string,
): number {
	const hint =
		near === undefined
			? "elastic-run help lists the commands;"
			: `did you mean elastic-run ${near}?`;
	say(`${problem}; ${hint} ${otherwise}`);
	return EXIT_CODES.usage;
}
