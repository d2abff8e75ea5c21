import { EXIT_CODES } from "../../src/base/errors.js";
import { editDistance } from "../../src/base/nearest-name.js";
import { ALL_OPTIONS, OPTIONS } from "../../src/config/options.js";
import type { Flag } from "../argument-parser.js";
import { say } from "../console.js";

/** The flags of `barrier` that a launch does not have. */
export const BARRIER_FLAGS = [
	{ name: "probe-port", argument: "PORT" },
	{ name: "probe-path", argument: "PATH" },
	{ name: "exit-file", argument: "FILE" },
	{ name: "outcome-file", argument: "FILE" },
];

/** One command: what help and the parser know of it, and how it runs. */
interface CommandEntry {
	/** Its purpose, in one line. */
	readonly help: string;
	/** What it takes besides flags, as help shows it. */
	readonly operand?: string;
	readonly flags: readonly Flag[];
	/** Flags without an effect: a user may give each command the same flags. */
	readonly ignored?: readonly Flag[];
	/** Takes the arguments after the command's name, and returns the exit code. Loaded on demand: a run needs none of them. */
	readonly run: (args: readonly string[]) => number | Promise<number>;
}

const { config, nodeId, nprocPerNode, output, runId } = OPTIONS;
const { logDir, rdzvBackend, rdzvConf, rdzvEndpoint } = OPTIONS;
const STORE_FLAGS = [rdzvEndpoint, rdzvBackend, rdzvConf];
const COMMON_FLAGS = [config, output];
const BARRIER_OPTIONS = [
	...[OPTIONS.nnodes, runId, nodeId, ...STORE_FLAGS],
	...[OPTIONS.localAddr, OPTIONS.nodeRank, OPTIONS.role],
	...[OPTIONS.maxRestarts, OPTIONS.exitCodeRestart, logDir, OPTIONS.logFormat],
	...[OPTIONS.signalsToHandle, config],
];
const WAIT_FLAGS = [{ name: "no-wait" }, { name: "timeout", argument: "TIME" }];

/** A failure, of which `validate` says what would follow. */
export const EXPLAIN = { name: "explain", argument: "FACTS" };

const TABLE = {
	run: {
		help: "launch a script or a program, whatever it is called",
		flags: ALL_OPTIONS,
		run: async (args) => (await import("./launch.js")).launchNamed(args),
	},
	status: {
		help: "show where a run stands, or which runs there are",
		operand: "[RUN_ID]",
		flags: [{ name: "watch" }, ...STORE_FLAGS, ...COMMON_FLAGS],
		run: async (args) => (await import("./status.js")).status(args),
	},
	history: {
		help: "show a run's rounds, their causes and how long each step took",
		operand: "RUN_ID",
		flags: [...STORE_FLAGS, ...COMMON_FLAGS],
		run: async (args) => (await import("./history.js")).history(args),
	},
	goodput: {
		help: "show what a run's time was spent on, and what failures cost",
		operand: "[RUN_ID]",
		flags: [
			{ name: "cost-per-node-hour", argument: "N" },
			...[...STORE_FLAGS, ...COMMON_FLAGS],
		],
		run: async (args) => (await import("./goodput.js")).goodput(args),
	},
	why: {
		help: "show who keeps a run from its next step, with stacks",
		operand: "[RUN_ID]",
		flags: [
			{ name: "timeout", argument: "TIME" },
			...[...STORE_FLAGS, ...COMMON_FLAGS],
		],
		run: async (args) => (await import("./why.js")).why(args),
	},
	logs: {
		help: "show what this machine has of a run's logs, merged by time",
		operand: "[RUN_ID]",
		flags: [
			{ name: "follow", short: "f" },
			{ name: "rank", argument: "0,3-5" },
			{ name: "grep", argument: "RE" },
			{ name: "tail", argument: "N" },
			{ name: "since", argument: "TIME" },
			{ name: "timestamps" },
			...[logDir, ...COMMON_FLAGS],
		],
		ignored: STORE_FLAGS,
		run: async (args) => (await import("./logs.js")).logs(args),
	},
	stop: {
		help: "end a run on all of its nodes",
		operand: "RUN_ID",
		flags: [...WAIT_FLAGS, ...STORE_FLAGS, ...COMMON_FLAGS],
		run: async (args) => (await import("./stop.js")).stop(args),
	},
	leave: {
		help: "make a node leave its run, at once or by a deadline",
		operand: "[RUN_ID|NODE]",
		flags: [
			...[{ name: "deadline", argument: "TIME" }, { name: "cancel" }],
			...[runId, nodeId, ...WAIT_FLAGS, ...STORE_FLAGS, ...COMMON_FLAGS],
		],
		run: async (args) => (await import("./leave.js")).leave(args),
	},
	nodes: {
		help: "show a run's nodes: charges, failures, replacements, preflights",
		operand: "[RUN_ID]",
		flags: [...STORE_FLAGS, ...COMMON_FLAGS],
		run: async (args) => (await import("./nodes.js")).nodes(args),
	},
	readmit: {
		help: "let a node that was replaced into its run again",
		operand: "NODE [RUN_ID]",
		flags: [runId, ...STORE_FLAGS, ...COMMON_FLAGS],
		run: async (args) => (await import("./readmit.js")).readmit(args),
	},
	clean: {
		help: "list, or remove, what runs that are over have left behind",
		operand: "[RUN_ID]",
		flags: [
			...[{ name: "yes" }, { name: "logs" }],
			{ name: "older-than", argument: "TIME" },
			...[...STORE_FLAGS, ...COMMON_FLAGS],
		],
		run: async (args) => (await import("./clean.js")).clean(args),
	},
	validate: {
		help: "check settings as a launch would, and show what is in force",
		flags: [...ALL_OPTIONS, EXPLAIN],
		run: async (args) => (await import("./validate.js")).validate(args),
	},
	doctor: {
		help: "look at what this machine lacks for running workers",
		flags: [nprocPerNode, rdzvEndpoint, rdzvConf, runId, output],
		run: async (args) => (await import("./doctor.js")).doctor(args),
	},
	chaos: {
		help: "make faults among this machine's processes of a run",
		operand: "[notice] RUN_ID",
		flags: [
			{ name: "at", argument: "ROUND:RANK[:KIND],…" },
			...[nodeId, { name: "platform", argument: "NAME" }],
			{ name: "window", argument: "TIME" },
			...COMMON_FLAGS,
		],
		ignored: STORE_FLAGS,
		run: async (args) => (await import("./chaos.js")).chaos(args),
	},
	barrier: {
		help: "take part in a run for a pod whose other containers work",
		flags: [...BARRIER_FLAGS, ...BARRIER_OPTIONS],
		run: async (args) => (await import("./barrier.js")).barrier(args),
	},
	"python-path": {
		help: "print where Python finds the runtime library",
		flags: [{ name: "wheel" }],
		run: async (args) => (await import("./python-path.js")).pythonPath(args),
	},
	help: {
		help: "show the help of a command",
		flags: [],
		run: async (args) => (await import("./help.js")).help(args),
	},
	version: {
		help: "show the version",
		flags: [],
		run: async () => (await import("./launch.js")).version(),
	},
} satisfies Readonly<Record<string, CommandEntry>>;

export type CommandName = keyof typeof TABLE;

/** The commands, in the order of help. */
export const COMMANDS: Readonly<Record<CommandName, CommandEntry>> = TABLE;

/** One line per command. */
export function commandList(): string {
	const width = Math.max(...Object.keys(COMMANDS).map(({ length }) => length));
	return Object.entries(COMMANDS)
		.map(([name, { help }]) => `  ${name.padEnd(width)}  ${help}`)
		.join("\n");
}

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
