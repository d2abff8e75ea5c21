import { closeSync, constants, openSync, writeSync } from "node:fs";
import { stat } from "node:fs/promises";
import { backgroundClock, systemClock } from "../../src/base/clock.js";
import {
	type ElasticRunError,
	EXIT_CODES,
	messageOf,
} from "../../src/base/errors.js";
import {
	type AgentConfig,
	type CommandLine,
	isStdinGiven,
	OPTIONS,
	type ResolveRequest,
	readCommandLine,
	resolveSettings,
	SettingReader,
} from "../../src/config/index.js";
import { isScreen, PinnedScreen, plainJson } from "../../src/logs/index.js";
import type { RunReport } from "../../src/status/index.js";
import { helpText, parseArguments } from "../command-line.js";
import { nearestCommand, refuseWord } from "../commands.js";
import {
	isColoured,
	letTerminalsLag,
	print,
	printResult,
	say,
	sayOn,
} from "../console.js";
import { watchNpm } from "../npm-parents.js";
import { ownHost } from "../own-host.js";
import { listenForStopSignals } from "../stop-signals.js";
import { command as version } from "./version.js";

/** Launches a script with flags, or refuses a mistyped command. Returns the exit code. */
export async function launchLine(args: readonly string[]): Promise<number> {
	const [word = ""] = args;
	if (args.length === 1 && isMistakable(word)) {
		const found = await stat(word).catch(() => undefined);
		const isHere = found?.isFile() === true;
		const file = `to run the file here, use: elastic-run ./${word}; `;
		const here = isHere
			? ""
			: ` and no file here${found ? ", but a directory" : ""}`;
		return refuseWord(
			`"${word}" is no command of elastic-run${here}`,
			nearestCommand(word),
			`${isHere ? file : ""}to run the program ${word}, use: elastic-run run ${word}`,
		);
	}
	return launchNamed(args);
}

/** `elastic-run run …`, which always means a launch. */
export const command = { run: launchNamed };

async function launchNamed(args: readonly string[]): Promise<number> {
	const line = parseArguments(args);
	if (line.asksFor === "help") {
		print(helpText());
		return EXIT_CODES.succeeded;
	}
	if (line.asksFor === "version") return version.run();
	for (const note of line.notes) say(`note: ${note}`);
	if (line.warning !== undefined) say(`warning: ${line.warning}`);
	return run(line);
}

/**
 * Whether a word, typed alone, may be a mistyped command or a file here although it names a program of the system. With
 * input on stdin the program is meant: `seq 5 | elastic-run cat`.
 */
function isMistakable(word: string): boolean {
	return /^\w[\w-]*$/.test(word) && !isStdinGiven();
}

/** Starts the workers of this node and supervises them to the end. Returns the exit code. */
async function run(line: CommandLine): Promise<number> {
	const host = ownHost();
	const { request, ...reading } = await readCommandLine(line, host);
	const resolution = await resolveSettings(request, host);
	for (const words of reading.warnings) say(`warning: ${words}`);
	for (const note of reading.notes) say(note);
	if ("error" in resolution) return refuse(line, resolution.error);
	const { config, warnings } = resolution;
	const reader = new SettingReader(request.settings, () => {}, request.nameOf);
	if (reader.value(OPTIONS.dryRun)) {
		for (const words of warnings) say(`warning: ${words}`);
		return await showDryRun(config, request, reader.value(OPTIONS.verbose));
	}
	return await launch(config, warnings, host.isHangupIgnored);
}

function refuse(line: CommandLine, error: ElasticRunError): number {
	// A command word counts only as the first argument.
	const word = line.flags.size === 0 ? line.script : undefined;
	const meant =
		error.code === "COMMAND_NOT_FOUND" && word !== undefined
			? nearestCommand(word)
			: undefined;
	if (meant === undefined) {
		say(error.message);
		return error.exitCode;
	}
	say(`"${word}" not found; did you mean the command ${meant}?`);
	return EXIT_CODES.usage;
}

async function showDryRun(
	config: AgentConfig,
	{ settings }: ResolveRequest,
	isVerbose: boolean,
): Promise<number> {
	const { describeDryRun, dryRunInWords } = await import("./dry-run.js");
	const dryRun = describeDryRun(config, settings);
	printResult(config.output === "json", dryRun, () =>
		dryRunInWords(dryRun, isVerbose),
	);
	return EXIT_CODES.succeeded;
}

/** The words of the report are loaded while the run goes, in milliseconds after its start: its end need not wait for them. */
const WORDS_AFTER_MS = 500;
const loadWords = () => import("../../src/status/report-text.js");

async function launch(
	config: AgentConfig,
	warnings: readonly string[],
	isHangupIgnored: boolean,
): Promise<number> {
	const { launchResolved } = await import("../../src/launch/launch.js");
	const signals = listenForStopSignals(config, isHangupIgnored);
	// Under nohup it must outlive them.
	if (!isHangupIgnored) {
		watchNpm(backgroundClock, () =>
			signals.leave("npm, which started this launcher, has gone"),
		);
	}
	if (isAloneOnTerminal(config)) letTerminalsLag();
	const screen = openScreen(config);
	const wordsAt = backgroundClock.now() + WORDS_AFTER_MS;
	const cancelWords = backgroundClock.wakeAt(wordsAt, () => {
		loadWords().catch(() => {});
	});
	if (screen) sayOn(screen.over(process.stderr));
	try {
		const result = await launchResolved(config, warnings, {
			signal: signals.stop,
			insistSignal: signals.insist,
			killSignal: signals.kill,
			handled: config.signalsToHandle,
			onPassedOn: signals.onPassedOn,
			screen,
		});
		screen?.close();
		const { TORCHELASTIC_ERROR_FILE: errorFile } = config.environment;
		if (errorFile) await writeLauncherError(result, errorFile);
		if (config.output === "json")
			process.stdout.write(`${plainJson(result)}\n`);
		const { formatReport } = await loadWords();
		process.stderr.write(formatReport(result, isColoured(process.stderr)));
		return result.exitCode;
	} finally {
		cancelWords();
		screen?.close();
		sayOn(undefined);
		signals.release();
	}
}

/** Whether no worker writes directly to the launcher's streams. */
function isAloneOnTerminal({ redirects }: AgentConfig): boolean {
	return redirects.every(({ stdout, stderr }) => stdout && stderr);
}

/** Opens the screen if stderr is a terminal for people and no worker writes to it directly. */
function openScreen(config: AgentConfig) {
	const isForPeople =
		config.logFormat === "pretty" && isAloneOnTerminal(config);
	if (!isForPeople || !process.stderr.isTTY) return undefined;
	if (!isScreen(process.stderr, process.env)) return undefined;
	return new PinnedScreen({
		terminal: process.stderr,
		clock: backgroundClock,
		colour: isColoured(process.stderr),
	});
}

// A pipe without a reader must not delay the end.
const OPEN_FLAGS =
	constants.O_WRONLY |
	constants.O_CREAT |
	constants.O_TRUNC |
	constants.O_NONBLOCK;

/**
 * Writes the root cause of a failed run to the launcher's TORCHELASTIC_ERROR_FILE, which a scheduler may have named. It
 * writes in place: Kubernetes mounts such a file alone.
 */
async function writeLauncherError(
	report: RunReport,
	path: string,
): Promise<void> {
	const { launcherErrorText } = await import("../../src/status/report.js");
	const text = launcherErrorText(report, systemClock.wallTime());
	if (text === undefined) return;
	try {
		const file = openSync(path, OPEN_FLAGS, 0o644);
		try {
			writeSync(file, text);
		} finally {
			closeSync(file);
		}
	} catch (error) {
		say(
			`warning: the root cause cannot be written to TORCHELASTIC_ERROR_FILE: ${messageOf(error)}; name a file in a directory that this user may write`,
		);
	}
}
