import { EXIT_CODES } from "../../src/base/errors.js";
import { systemHost } from "../../src/config/host.js";
import { OPTIONS } from "../../src/config/options.js";
import { ok } from "../../src/config/parse/parsed.js";
import { parseFacts } from "../../src/config/parse/rules.js";
import { checkSettings, findCommand } from "../../src/config/resolve.js";
import { readCommandLine } from "../../src/config/sources.js";
import { type ParsedArguments, parseArguments } from "../command-line.js";
import { print, printResult, say } from "../console.js";
import { takeEnvironment } from "../own-environment.js";
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

/** Says whether a launch with these arguments would be refused, and why. Returns the exit code. */
export async function validate(args: readonly string[]): Promise<number> {
	const line = parseArguments(args, false);
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

async function examine(line: ParsedArguments) {
	const host = systemHost(takeEnvironment());
	const reading = await readCommandLine(line, host);
	const { request } = reading;
	const { config, ...check } = await checkSettings(request, host);
	const command = await findCommand(request, host);
	const facts =
		line.explain === undefined ? ok(undefined) : parseFacts(line.explain);
	const isRefused = command !== undefined && "code" in command;
	const problems = [
		...check.problems,
		...(isRefused ? [command.message] : []),
		...("problems" in facts
			? facts.problems.map((words) => `--explain: ${words}`)
			: []),
	].flatMap((words) => words.split("\n"));
	const explanation =
		config !== undefined && "value" in facts && facts.value !== undefined
			? explain(config, facts.value)
			: undefined;
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
			config === undefined || isRefused || "problems" in facts
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
