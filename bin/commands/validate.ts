import { EXIT_CODES } from "../../src/base/errors.js";
import {
	checkSettings,
	findCommand,
	OPTIONS,
	optionsOf,
	parseFacts,
	readCommandLine,
	SettingReader,
} from "../../src/config/index.js";
import { type LaunchLine, parseArguments } from "../command-line.js";
import { print, printResult, say } from "../console.js";
import { ownHost } from "../own-host.js";
import {
	type Explanation,
	explain,
	explanationInWords,
} from "./explain-rules.js";
import {
	type Configuration,
	configurationInWords,
	describeConfiguration,
} from "./settings-view.js";

const USAGE = `Usage: elastic-run validate [options] [script or command [its arguments …]]

Checks flags, variables and config file as a launch would, and the script where
one is named. Says all that is wrong, one line each, or shows what would be in
force, with the origin of each setting. Starts nothing, and asks no store. Takes
the options of a launch (see elastic-run --help); with --output json it prints
one object. With --explain 'exit=137,role=trainer,uptime=12s' it says which rule
or policy would decide about such a failure, and what would follow.
Exit code: 0, or 2 where anything is wrong.
`;

const FLAGS = optionsOf("Command", {
	explain: {
		argument: "FACTS",
		help: "say what would follow such a failure",
		parse: parseFacts,
	},
});

/** The output of `--output json`. */
interface Validation {
	readonly ok: boolean;
	/** One line each. */
	readonly problems: readonly string[];
	readonly warnings: readonly string[];
	/** Null if there is a problem. */
	readonly configuration: Configuration | null;
	/** Only with `--explain`. */
	readonly explanation?: Explanation | undefined;
}

/** Says whether a launch with these arguments would be refused, and why. */
export const command = { run: validate };

async function validate(args: readonly string[]): Promise<number> {
	const line = parseArguments(args, FLAGS.explain);
	if (line.asksFor === "help") {
		print(USAGE);
		return EXIT_CODES.succeeded;
	}
	const { validation, notes, isJson } = await examine(line);
	const { ok, problems, warnings, configuration } = validation;
	for (const words of notes) say(words);
	for (const words of warnings) say(`warning: ${words}`);
	for (const words of problems) say(words);
	printResult(isJson, validation, () =>
		validation.explanation !== undefined
			? explanationInWords(validation.explanation)
			: configuration === null
				? ""
				: `${configurationInWords(configuration).join("\n")}\n`,
	);
	return ok ? EXIT_CODES.succeeded : EXIT_CODES.usage;
}

async function examine(line: LaunchLine) {
	const host = ownHost();
	const reading = await readCommandLine(line, host);
	const { request } = reading;
	const { config, ...check } = await checkSettings(request, host);
	const command = await findCommand(request, host);
	const isRefused = command !== undefined && "code" in command;
	const problems = [
		...check.problems,
		...(isRefused ? [command.message] : []),
	].flatMap((words) => words.split("\n"));
	const reader = new SettingReader(
		line.flags,
		(words) => problems.push(words),
		request.nameOf,
	);
	const facts = reader.given(FLAGS.explain);
	const explanation = config && facts && explain(config, facts);
	const validation: Validation = {
		explanation,
		ok: problems.length === 0,
		problems,
		warnings: [
			...(line.warning === undefined ? [] : [line.warning]),
			...reading.warnings,
			...check.warnings,
		],
		configuration:
			config === undefined || problems.length > 0
				? null
				: describeConfiguration(
						config,
						request.settings,
						command !== undefined,
					),
	};
	const notes = [
		...line.notes.map((words) => `note: ${words}`),
		...reading.notes,
	];
	const isJson = request.settings.get(OPTIONS.output.key)?.text === "json";
	return { validation, notes, isJson };
}
