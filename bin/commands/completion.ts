import { EXIT_CODES } from "../../src/base/errors.js";
import { print } from "../console.js";
import { refuse, withArguments } from "./command-arguments.js";
import { bashCompletion } from "./completion/bash.js";
import { completedCommandLine } from "./completion/completion-words.js";
import { fishCompletion } from "./completion/fish.js";
import { zshCompletion } from "./completion/zsh.js";

const SHELLS = new Map([
	["bash", bashCompletion],
	["zsh", zshCompletion],
	["fish", fishCompletion],
]);

const ABOUT = `Prints a shell's script that completes the commands, flags and values of this
version; for example, in ~/.bashrc:
  source <(elastic-run completion bash)
Exit code: 0.
`;

/** Prints a shell's completion script for this version. Returns the exit code. */
export function completion(args: readonly string[]): Promise<number> {
	return withArguments("completion", ABOUT, args, ({ operands }) => {
		const [shell = "", ...others] = operands;
		const script = SHELLS.get(shell);
		if (script === undefined || others.length > 0) {
			return refuse([
				"completion: name one shell: bash, zsh or fish; for example: source <(elastic-run completion bash)",
			]);
		}
		print(script(completedCommandLine()));
		return EXIT_CODES.succeeded;
	});
}
