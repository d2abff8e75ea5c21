import type { AgentConfig } from "../../src/agent/configuration/agent-config.js";
import { systemHost } from "../../src/agent/configuration/host.js";
import {
	type CommandLine,
	resolveCommandLine,
} from "../../src/agent/configuration/resolve-command-line.js";
import type { Settings } from "../../src/agent/configuration/settings.js";
import { backgroundClock } from "../../src/clock.js";
import { type ElasticRunError, EXIT_CODES } from "../../src/errors.js";
import { letTerminalsLag, print, say, sayOn } from "../console.js";
import { listenForStopSignals } from "../stop-signals.js";
import { nearestCommand } from "./command-words.js";

/** Starts the workers of this node and supervises them to the end. Returns the exit code. */
export async function run(line: CommandLine): Promise<number> {
	const host = systemHost({ ...process.env });
	const resolved = await resolveCommandLine(line, host);
	const { resolution, notes } = resolved;
	for (const note of notes) say(note);
	if ("error" in resolution) return refuse(line, resolution.error);
	if (resolved.isDryRun) {
		for (const words of resolution.warnings) say(`warning: ${words}`);
		return await showDryRun(resolution.config, resolved.settings);
	}
	const { config, warnings } = resolution;
	return await launch(config, warnings, host.isHangupIgnored);
}

function refuse(line: CommandLine, error: ElasticRunError): number {
	// A command word counts only as the very first argument.
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
	settings: Settings,
): Promise<number> {
	const { describeDryRun, dryRunInWords } = await import("./dry-run.js");
	const dryRun = describeDryRun(config, settings);
	print(
		config.output === "json"
			? `${JSON.stringify(dryRun)}\n`
			: dryRunInWords(dryRun),
	);
	return EXIT_CODES.succeeded;
}

async function launch(
	config: AgentConfig,
	warnings: readonly string[],
	isHangupIgnored: boolean,
): Promise<number> {
	const { launchResolved } = await import("../../src/agent/launch.js");
	const signals = listenForStopSignals(config.signalsToHandle, isHangupIgnored);
	if (isAloneOnTerminal(config)) letTerminalsLag();
	const screen = await openScreen(config);
	if (screen) sayOn(screen.over(process.stderr));
	try {
		const result = await launchResolved(config, warnings, {
			signal: signals.stop,
			killSignal: signals.kill,
			handled: config.signalsToHandle,
			screen,
		});
		screen?.close();
		if (config.output === "json")
			process.stdout.write(`${JSON.stringify(result)}\n`);
		const { formatReport } = await import(
			"../../src/agent/report/format-report.js"
		);
		process.stderr.write(formatReport(result, isColoured(process.stderr)));
		return result.exitCode;
	} finally {
		screen?.close();
		sayOn(undefined);
		signals.release();
	}
}

/** Whether no worker writes to the launcher's own streams by itself. */
function isAloneOnTerminal({ redirects }: AgentConfig): boolean {
	return redirects.every(({ stdout, stderr }) => stdout && stderr);
}

/** Where stderr is a terminal for people, and no worker writes to it by itself. */
async function openScreen(config: AgentConfig) {
	const isForPeople =
		config.logFormat === "pretty" && isAloneOnTerminal(config);
	if (!isForPeople || !process.stderr.isTTY) return undefined;
	const { isScreen } = await import("../../src/agent/operate/draw.js");
	if (!isScreen(process.stderr, process.env)) return undefined;
	const { PinnedScreen } = await import(
		"../../src/agent/logs/pinned-screen.js"
	);
	return new PinnedScreen({
		terminal: process.stderr,
		clock: backgroundClock,
		colour: isColoured(process.stderr),
	});
}

function isColoured(stream: NodeJS.WriteStream): boolean {
	return stream.isTTY && !process.env.NO_COLOR;
}
