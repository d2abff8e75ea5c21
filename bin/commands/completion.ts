import { EXIT_CODES } from "../../src/base/errors.js";
import { print, say } from "../console.js";
import { bashCompletion } from "./completion/bash.js";
import { completedCommandLine } from "./completion/completion-words.js";
import { fishCompletion } from "./completion/fish.js";
import { zshCompletion } from "./completion/zsh.js";
import { asksForHelp } from "./own-flags.js";

const SHELLS = new Map([
	["bash", bashCompletion],
	["zsh", zshCompletion],
	["fish", fishCompletion],
]);

const USAGE = `Usage: elastic-run completion bash|zsh|fish

Prints a shell's script that completes the commands, flags and values of this
version; for example, in ~/.bashrc:
  source <(elastic-run completion bash)
Exit code: 0.
`;

/** Prints a shell's completion script for this version. Returns the exit code. */
export function completion(args: readonly string[]): number {
	if (asksForHelp(args)) {
		print(USAGE);
		return EXIT_CODES.succeeded;
	}
	const [shell = "", ...others] = args;
	const script = SHELLS.get(shell);
	if (script === undefined || others.length > 0) {
		say(
			`completion: name one shell: bash, zsh or fish; for example: source <(elastic-run completion bash)`,
		);
		return EXIT_CODES.usage;
	}
	print(script(completedCommandLine()));
	return EXIT_CODES.succeeded;
}
