import { EXIT_CODES } from "../src/base/errors.js";
import { editDistance } from "../src/base/nearest-name.js";
import { say } from "./console.js";

/** The commands in the order of help, each with its purpose in one line. */
export const COMMANDS = {
	run: "launch a script or a program, whatever it is called",
	status: "show where a run stands, or which runs there are",
	history: "show a run's rounds, their causes and how long each step took",
	goodput: "show what a run's time was spent on, and what failures cost",
	why: "show who keeps a run from its next step, with stacks",
	logs: "show what this machine has of a run's logs, merged by time",
	stop: "end a run on all of its nodes",
	leave: "make a node leave its run, at once or by a deadline",
	nodes: "show a run's nodes: charges, failures, replacements, preflights",
	readmit: "let a node that was replaced into its run again",
	clean: "list, or remove, what runs that are over have left behind",
	validate: "check settings as a launch would, and show what is in force",
	doctor: "look at what this machine lacks for running workers",
	chaos: "make faults among this machine's processes of a run",
	barrier: "take part in a run for a pod whose other containers work",
	"python-path": "print where Python finds the runtime library",
	help: "show the help of a command, a --flag, exit-codes, or all",
	version: "show the version",
} as const;

export type CommandName = keyof typeof COMMANDS;

interface CommandFile {
	readonly command: {
		/** Takes the arguments after the command's name, and returns the exit code. */
		run(args: readonly string[]): number | Promise<number>;
	};
}

/** Loaded on demand: a launch needs none of them. */
const FILES: Readonly<Record<CommandName, () => Promise<CommandFile>>> = {
	run: () => import("./commands/run.js"),
	status: () => import("./commands/status.js"),
	history: () => import("./commands/history.js"),
	goodput: () => import("./commands/goodput.js"),
	why: () => import("./commands/why.js"),
	logs: () => import("./commands/logs.js"),
	stop: () => import("./commands/stop.js"),
	leave: () => import("./commands/leave.js"),
	nodes: () => import("./commands/nodes.js"),
	readmit: () => import("./commands/readmit.js"),
	clean: () => import("./commands/clean.js"),
	validate: () => import("./commands/validate.js"),
	doctor: () => import("./commands/doctor.js"),
	chaos: () => import("./commands/chaos.js"),
	barrier: () => import("./commands/barrier.js"),
	"python-path": () => import("./commands/python-path.js"),
	help: () => import("./commands/help.js"),
	version: () => import("./commands/version.js"),
};

/** Words that are commands in first position. A script with such a name must be written `./status`. */
export function isCommandWord(word: string): word is CommandName {
	return Object.hasOwn(COMMANDS, word);
}

export async function loadCommand(word: CommandName) {
	return (await FILES[word]()).command;
}

/** Returns the exit code. */
export async function runCommandWord(
	word: CommandName,
	args: readonly string[],
): Promise<number> {
	return (await loadCommand(word)).run(args);
}

/** The commands of everyday, for the short help. */
export function commandNames(): string {
	const daily: readonly CommandName[] = [
		...(["status", "history", "why", "logs", "stop", "doctor"] as const),
	];
	return `${daily.join(", ")} …`;
}

/** One line per command. */
export function commandList(): string {
	const width = Math.max(...Object.keys(COMMANDS).map(({ length }) => length));
	return Object.entries(COMMANDS)
		.map(([name, help]) => `  ${name.padEnd(width)}  ${help}`)
		.join("\n");
}

const LARGEST_SLIP = 2;

/** The command that a word was probably meant to be. */
export function nearestCommand(word: string): string | undefined {
	const most = Math.min(LARGEST_SLIP, Math.floor(word.length / 3));
	return Object.keys(COMMANDS)
		.map((command) => ({ command, slips: editDistance(word, command) }))
		.filter(({ slips }) => slips <= most)
		.sort((one, other) => one.slips - other.slips)[0]?.command;
}

/** Says that a word is no command, which one is similar, and what else may be meant. Returns the exit code. */
export function refuseWord(
	problem: string,
	near: string | undefined,
	otherwise: string,
): number {
	const hint =
		near === undefined
			? "elastic-run help all lists the commands;"
			: `did you mean elastic-run ${near}?`;
	say(`${problem}; ${hint} ${otherwise}`);
	return EXIT_CODES.usage;
}
