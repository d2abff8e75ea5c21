import { EXIT_CODES } from "../../src/base/errors.js";
import { editDistance } from "../../src/base/nearest-name.js";
import { say } from "../console.js";
import type { CommandName } from "./command-help.js";

/** Takes the arguments after the command word; returns the exit code. */
type RunCommand = (args: readonly string[]) => number | Promise<number>;

/** Loaded on demand: a run needs none of them. */
const COMMANDS: Readonly<Record<CommandName, RunCommand>> = {
	run: async (args) => (await import("./launch.js")).launchNamed(args),
	help: async (args) => (await import("./help.js")).help(args),
	version: async () => (await import("./launch.js")).version(),
	status: async (args) => (await import("./status.js")).status(args),
	history: async (args) => (await import("./history.js")).history(args),
	stop: async (args) => (await import("./stop.js")).stop(args),
	leave: async (args) => (await import("./leave.js")).leave(args),
	logs: async (args) => (await import("./logs.js")).logs(args),
	clean: async (args) => (await import("./clean.js")).clean(args),
	chaos: async (args) => (await import("./chaos.js")).chaos(args),
	validate: async (args) => (await import("./validate.js")).validate(args),
	doctor: async (args) => (await import("./doctor.js")).doctor(args),
	"python-path": async (args) =>
		(await import("./python-path.js")).pythonPath(args),
	completion: async (args) =>
		(await import("./completion.js")).completion(args),
};

/** Commands of later versions. */
const RESERVED_WORDS: readonly string[] = ["barrier"];

/** Words that are commands in first position. A script with such a name must be written `./status`. */
const COMMAND_WORDS: readonly string[] = [
	...Object.keys(COMMANDS),
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
	const command = new Map(Object.entries(COMMANDS)).get(word);
	if (command !== undefined) return command(args);
	say(
		`the command "${word}" is not available in this version; to run a script of this name, write ./${word}`,
	);
	return EXIT_CODES.usage;
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
