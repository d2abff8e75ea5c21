/** A flag of one command, besides the common ones that find a run. */
export interface OwnFlag {
	/** With dashes, without the leading ones. */
	readonly name: string;
	/** One letter. */
	readonly short?: string;
	/** Its value's name in help; undefined for a switch. */
	readonly argument?: string;
}

/** The commands that look for a run, each with its flags. */
export const OWN_FLAGS = {
	status: [{ name: "watch" }],
	history: [],
	chaos: [
		{ name: "at", argument: "ROUND:RANK[:KIND],…" },
		{ name: "delay", argument: "TIME" },
		{ name: "mtbf", argument: "TIME" },
		{ name: "kinds", argument: "KIND,…" },
		{ name: "seed", argument: "N" },
		{ name: "freeze", argument: "TIME" },
		{ name: "for", argument: "TIME" },
	],
	logs: [
		{ name: "follow", short: "f" },
		{ name: "rank", argument: "RANKS" },
		{ name: "grep", argument: "RE" },
		{ name: "tail", argument: "N" },
		{ name: "since", argument: "TIME" },
		{ name: "timestamps" },
		{ name: "log-dir", argument: "DIR" },
	],
	clean: [
		{ name: "yes" },
		{ name: "logs" },
		{ name: "older-than", argument: "TIME" },
	],
	leave: [
		{ name: "run-id", argument: "ID" },
		{ name: "node-id", argument: "ID" },
		{ name: "no-wait" },
		{ name: "timeout", argument: "TIME" },
	],
	stop: [{ name: "no-wait" }, { name: "timeout", argument: "TIME" }],
} as const satisfies Readonly<Record<string, readonly OwnFlag[]>>;

export type RunCommandName = keyof typeof OWN_FLAGS;

/** For a command whose only flag is `--help`. */
export function asksForHelp(args: readonly string[]): boolean {
	return args.some((word) => word === "--help" || word === "-h");
}
