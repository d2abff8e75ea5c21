import { editDistance } from "../../src/agent/configuration/nearest-name.js";
import { EXIT_CODES } from "../../src/errors.js";
import { say } from "../console.js";

/** Takes the arguments that follow its word, and returns the exit code. */
type RunCommand = (args: readonly string[]) => number | Promise<number>;

/** Loaded when they are asked for: a run needs none of them. */
const COMMANDS: ReadonlyMap<string, RunCommand> = new Map<string, RunCommand>([
	["status", async (args) => (await import("./status.js")).status(args)],
	["history", async (args) => (await import("./history.js")).history(args)],
	["stop", async (args) => (await import("./stop.js")).stop(args)],
	["leave", async (args) => (await import("./leave.js")).leave(args)],
	["logs", async (args) => (await import("./logs.js")).logs(args)],
	["clean", async (args) => (await import("./clean.js")).clean(args)],
	["chaos", async (args) => (await import("./chaos.js")).chaos(args)],
	["validate", async (args) => (await import("./validate.js")).validate(args)],
	["doctor", async (args) => (await import("./doctor.js")).doctor(args)],
	[
		"python-path",
		async (args) => (await import("./python-path.js")).pythonPath(args),
	],
	[
		"completion",
		async (args) => (await import("./completion.js")).completion(args),
	],
]);

/** Commands of later versions. */
const RESERVED_WORDS: readonly string[] = ["barrier"];

/** Words that are commands where they come first; a script of such a name is `./status`. */
const COMMAND_WORDS: readonly string[] = [
	...COMMANDS.keys(),
	...RESERVED_WORDS,
];

const LARGEST_SLIP = 2;

export function isCommandWord(word: string): boolean {
	return COMMAND_WORDS.includes(word);
}

/** Returns the exit code. */
export async function runCommandWord(
	word: string,
	args: readonly string[],
): Promise<number> {
	const command = COMMANDS.get(word);
	if (command !== undefined) return command(args);
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
