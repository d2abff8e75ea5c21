import { EXIT_CODES } from "../../src/base/errors.js";
import { flagHelpText, fullHelpText, helpText } from "../command-line.js";
import {
	isCommandWord,
	nearestCommand,
	refuseWord,
	runCommandWord,
} from "../commands.js";
import { print, say } from "../console.js";

const EXIT_CODE_PAGE = `Exit codes of a launch:
  0         the run succeeded, also for a spare
  1         the run failed: its report begins with the root cause
  2         a bad flag, value, file or policy; nothing was started
  3         rendezvous failed: too few nodes, or settings that differ
  4         etcd did not answer, or refuses login or certificate
  5         elastic-run stop ended the run
  70        internal error: a bug
  75        this node should be replaced, while the run goes on elsewhere
  76        this agent wants to be started again
  126, 127  the command is not executable, not found
  128+n     signal n stopped the launcher, and its workers are gone
`;

const TOPICS: ReadonlyMap<string, () => string> = new Map([
	["all", fullHelpText],
	["exit-codes", () => EXIT_CODE_PAGE],
	["run", helpText],
	["help", helpText],
	["--help", helpText],
	["-h", helpText],
]);

/** Shows the help of a command, of a flag, or of the launch. */
export const command = {
	run(args: readonly string[]): number | Promise<number> {
		const [word = "help", ...others] = args;
		if (others.length > 0) {
			say("help: name one command only: elastic-run help COMMAND");
			return EXIT_CODES.usage;
		}
		const text = TOPICS.get(word)?.() ?? flagHelp(word);
		if (text !== undefined) {
			print(text);
			return EXIT_CODES.succeeded;
		}
		if (isCommandWord(word)) return runCommandWord(word, ["--help"]);
		return refuseWord(
			`help: there is no command ${word}`,
			nearestCommand(word),
			"To run a program of this name: elastic-run run NAME",
		);
	},
};

function flagHelp(word: string): string | undefined {
	return word.startsWith("-") ? flagHelpText(word) : undefined;
}
