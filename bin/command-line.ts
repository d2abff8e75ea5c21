import {
	ALL_OPTIONS,
	COMMON_OPTIONS,
	type CommandLine,
	FOREIGN_FLAGS,
	ignoredFlagsWarning,
	type Option,
} from "../src/config/index.js";
import { CliCommand, commanders } from "./command.js";
import { commandList, commandNames } from "./commands.js";

export interface LaunchLine extends CommandLine {
	readonly asksFor: "help" | "version" | "run";
	/** Hints about what the user may have meant. */
	readonly notes: readonly string[];
	/** Warns of flags without effect. */
	readonly warning: string | undefined;
}

/**
 * Parses a command line. Everything after the script belongs to the script.
 * @param more an option that a launch does not have; with it no command need be named
 */
export function parseArguments(
	args: readonly string[],
	more?: Option<unknown>,
): LaunchLine {
	const command = launchCommand();
	if (more !== undefined) command.takes(more);
	const ignored = new Set<string>();
	for (const { name, argument, instead } of FOREIGN_FLAGS) {
		command.acceptHidden(name, argument !== undefined, (typed) => {
			if (instead !== undefined) {
				return `${typed} has no meaning here: ${instead}`;
			}
			ignored.add(typed);
			return undefined;
		});
	}
	const { asksFor, given, problems, operands } = command.read(args);
	const [script, ...scriptArgs] = operands ?? [];
	const isNameless = operands?.length === 0 && more === undefined;
	return {
		asksFor,
		flags: given,
		script,
		args: scriptArgs,
		problems: [
			...problems,
			...(isNameless
				? [
						"no command given; give a script or a command after the options (see --help)",
					]
				: []),
		],
		notes: script === undefined ? [] : flagsAfterScript(script, scriptArgs),
		warning: ignoredFlagsWarning([...ignored]),
	};
}

/** The page of `--help`: what most users need. */
export function helpText(): string {
	return launchCommand("common").helpInformation() + EXAMPLES + MORE;
}

/** The page of `help all`: each command and each flag. */
export function fullHelpText(): string {
	return launchCommand("all").helpInformation() + EXAMPLES + DETAILS;
}

/** What help tells of one flag, by any of its names; undefined if there is none such. */
export function flagHelpText(typed: string): string | undefined {
	const name = typed.replace(/^-+/, "").replaceAll("_", "-");
	const option = ALL_OPTIONS.find(
		(one) =>
			one.name === name || one.aliases.includes(name) || one.short === name,
	);
	if (option === undefined) return undefined;
	const { defaultHelp, variables, keys } = option;
	const shown = shownFlag(option);
	return `${shown.flags}

${shown.description}
${defaultHelp === undefined ? "" : `\nDefault: ${defaultHelp}`}
Variable: ${variables.join(", ")}
Key in a config file: ${keys.join(", ")}
`;
}

/** The option as help shows it, without its default. */
function shownFlag(option: Option<unknown>) {
	const shown = commanders(option);
	shown.description += option.aliases
		.map((alias) => `; also --${alias}`)
		.join("");
	return shown;
}

const ABOUT = `Starts the workers of a distributed job on this machine, supervises them, and
restarts them when one fails or nodes come and go. Use it as torchrun: the same
command on each machine. Everything after the script belongs to the script.`;

/** @param extent which flags and words its help shows; all are accepted */
function launchCommand(extent: "common" | "all" = "all"): CliCommand {
	const commands =
		extent === "all"
			? `Commands, as the first word (elastic-run help COMMAND tells more):
${commandList()}`
			: `Commands, as the first word: ${commandNames()}`;
	const command = new CliCommand(
		undefined,
		"<script or command> [its arguments …]",
		`${ABOUT}\n\n${commands}`,
	);
	for (const option of new Set([...COMMON_OPTIONS, ...ALL_OPTIONS])) {
		const isCommon = COMMON_OPTIONS.includes(option);
		const shown = shownFlag(option).helpGroup(
			isCommon ? "Common options:" : `${option.group}:`,
		);
		const { defaultHelp } = option;
		if (defaultHelp !== undefined) shown.default(defaultHelp, defaultHelp);
		command.accept(option, shown.hideHelp(extent === "common" && !isCommon));
	}
	const group = extent === "all" ? "Command:" : "Common options:";
	command.answers("-h, --help", "show the short page", group);
	command.answers("-V, --version", "show the version", group);
	return command;
}

/** Names that scripts often use for their own options. */
const COMMON_NAMES: readonly string[] = [
	"config",
	"dry-run",
	"log-dir",
	"output",
	"role",
];

/** Notes about launcher flags after the script, which go to the script. */
function flagsAfterScript(script: string, args: readonly string[]): string[] {
	if (!/\.([cm]?js|ts|py)$/.test(script)) return [];
	const end = args.indexOf("--");
	const candidates = end < 0 ? args : args.slice(0, end);
	return candidates.flatMap((word, index) => {
		const name = word
			.replace(/^--/, "")
			.replace(/=.*$/s, "")
			.replaceAll("_", "-");
		if (!word.startsWith("--") || COMMON_NAMES.includes(name)) return [];
		const option = ALL_OPTIONS.find(
			(known) => known.name === name || known.aliases.includes(name),
		);
		if (option === undefined) return [];
		const value =
			option.argument === undefined || word.includes("=")
				? []
				: args.slice(index + 1, index + 2);
		return [
			`"${[word, ...value].join(" ")}" follows the script and is passed to it; put it before ${script} if it is meant for elastic-run`,
		];
	});
}

/** Commands that work in a shell as they are, without any file. */
const EXAMPLES = `
Examples:
  elastic-run --nproc-per-node 4 sh -c 'echo "worker $RANK of $WORLD_SIZE"'
  elastic-run --nproc-per-node 2 node -e 'console.log(process.env.MASTER_PORT)'
  elastic-run --nproc-per-node 2 --dry-run --output json sh -c 'exit 0'
`;

const DETAILS = `
Precedence: flag, environment variable, config file, default.
Durations: seconds, or 500ms, 30s, 10m, 1h.
`;

const MORE = `
More: elastic-run help all, help COMMAND, help --FLAG, help exit-codes
`;
