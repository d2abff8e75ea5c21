/** The commands and their purpose, in the order of help and completion. */
export const COMMAND_HELP = {
	run: "launch a script or a program, whatever it is called",
	status: "show where a run stands, or which runs there are",
	history: "show a run's rounds, their causes and how long each step took",
	logs: "show what this machine has of a run's logs, merged by time",
	stop: "end a run on all of its nodes",
	leave: "make a node of this machine leave its run",
	clean: "list, or remove, what runs that are over have left behind",
	validate: "check settings as a launch would, and show what is in force",
	doctor: "look at what this machine lacks for running workers",
	chaos: "make faults among this machine's processes of a run",
	"python-path": "print where Python finds the runtime library",
	completion: "print a script that completes the command line in a shell",
	help: "show the help of a command",
	version: "show the version",
} as const satisfies Readonly<Record<string, string>>;

export type CommandName = keyof typeof COMMAND_HELP;

/** One line per command. */
export function commandList(): string {
	const names = Object.keys(COMMAND_HELP);
	const width = Math.max(...names.map((name) => name.length));
	return Object.entries(COMMAND_HELP)
		.map(([name, help]) => `  ${name.padEnd(width)}  ${help}`)
		.join("\n");
}
