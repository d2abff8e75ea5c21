import { editDistance } from "../../src/agent/configuration/nearest-name.js";
import { EXIT_CODES } from "../../src/errors.js";
import { say } from "../console.js";

/** Words that are commands where they come first; a script of such a name is `./status`. */
const COMMAND_WORDS: readonly string[] = [
	"status",
	"history",
	"stop",
	"clean",
	"validate",
	"barrier",
];

const LARGEST_SLIP = 2;

export function isCommandWord(word: string): boolean {
	return COMMAND_WORDS.includes(word);
}

/** Returns the exit code. */
export function runCommandWord(word: string): number {
	say(
		`the command "${word}" is not available in this version; to run a script of this name, write ./${word}`,
	);
	return EXIT_CODES.usage;
}

/** The command that a word was probably meant to be. */
export function nearestCommand(word: string): string | undefined {
	return COMMAND_WORDS.find(
		(command) => editDistance(word, command) <= LARGEST_SLIP,
	);
}
