import { EXIT_CODES } from "../../src/base/errors.js";
import { helpText } from "../command-line.js";
import {
	isCommandWord,
	nearestCommand,
	refuseWord,
	runCommandWord,
} from "../commands.js";
import { print, say } from "../console.js";

/** Shows the help of a command, or of the launch. */
export const command = {
	run(args: readonly string[]): number | Promise<number> {
		const [word, ...others] = args;
		if (word === undefined || word.startsWith("-") || word === "help") {
			print(helpText());
			return EXIT_CODES.succeeded;
		}
		if (others.length > 0) {
			say("help: name one command only: elastic-run help COMMAND");
			return EXIT_CODES.usage;
		}
		if (isCommandWord(word)) return runCommandWord(word, ["--help"]);
		return refuseWord(
			`help: there is no command ${word}`,
			nearestCommand(word),
			"To run a program of this name: elastic-run run NAME",
		);
	},
};
