import { fstatSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { Writable } from "node:stream";
import { Cleanups } from "../base/cleanups.js";
import { systemClock } from "../base/clock.js";
import { messageOf } from "../base/errors.js";
import type { Logger } from "../base/logger.js";
import {
	type AgentConfig,
	type LaunchConfig,
	resolveLaunchConfig,
	systemHost,
} from "../config/index.js";
import { createLogger, type PinnedScreen } from "../logs/index.js";
import { pid1Warning } from "../processes/index.js";
import type { RunReport } from "../status/index.js";
import type { AgentStatus } from "./agent-status.js";
import { callUser } from "./call-user.js";
import {
	type BarrierParts,
	NodeLauncher,
	type StopReason,
} from "./node-launcher.js";

/** SIGTERM's exit code, for an AbortSignal whose reason names no signal. */
const ABORTED_EXIT_CODE = 128 + constants.signals.SIGTERM;

/** How to stop a launch from outside. */
export interface StopSignals
	extends Pick<LaunchConfig, "signal" | "killSignal"> {
	/** Makes the agent leave where `signal` only said that its machine will go. Default: nothing does. */
	readonly insistSignal?: AbortSignal | undefined;
	/** Signals that the caller turns into these requests. Default: none. */
	readonly handled?: readonly NodeJS.Signals[];
	/** Receives the function that passes a signal on to the workers. Default: none is passed on. */
	readonly onPassedOn?: (send: (signal: NodeJS.Signals) => void) => void;
	/** Keeps lines in view on the terminal of stderr. Default: none. */
	readonly screen?: PinnedScreen | undefined;
	/** A node without processes of its own. Default: it has workers. */
	readonly barrier?: BarrierParts | undefined;
	/** As in a program's `LaunchConfig`. Default: stderr. */
	readonly log?: false | Logger | undefined;
	/** Called with each state of the node. Default: nothing is. */
	readonly onNode?: ((status: AgentStatus) => void) | undefined;
}

type Terminal = NodeJS.WriteStream & { readonly fd: number };

/** Runs a program's launch and resolves with its report. */
export async function launch(
	launchConfig: LaunchConfig,
	wishes: Pick<StopSignals, "insistSignal" | "log" | "onNode">,
): Promise<RunReport> {
	const warnings: string[] = [];
	const config = await resolveLaunchConfig(
		launchConfig,
		// Each access to `process.env` is a system call, so it is copied. The caller may read stdin itself.
		{ ...systemHost({ ...process.env }), stdin: "other" },
		(warning) => warnings.push(warning),
	);
	const { signal, killSignal } = launchConfig;
	return launchResolved(config, warnings, { ...wishes, signal, killSignal });
}

/** The composition root. It closes what it opens, however the run ends. */
export async function launchResolved(
	config: AgentConfig,
	warnings: readonly string[],
	wishes: StopSignals,
): Promise<RunReport> {
	const cleanups = new Cleanups();
	const { screen, log: given } = wishes;
	const shownOn = (stream: Terminal) => {
		if (!stream.isTTY) return stream;
		// Everything goes to a terminal by one path, so that nothing overtakes or splits other output, however slow the
		// terminal.
		const way = isSameTerminal(stream, process.stderr)
			? process.stderr
			: stream;
		return screen?.over(way) ?? way;
	};
	const stderr = shownOn(process.stderr);
	const log = createLogger({
		stderr: given === undefined ? stderr : programLog(given),
		format: given === undefined ? config.logFormat : "json",
		level: "info",
		wallTime: systemClock.wallTime,
		look: {
			dated: !process.stderr.isTTY,
			colours: coloured(process.stderr, config.environment),
		},
	});
	const pid1 = pid1Warning(process);
	for (const warning of pid1 ? [...warnings, pid1] : warnings) {
		log.warn(warning);
	}
	try {
		const place = {
			clock: systemClock,
			log,
			cleanups,
			temporaryDirectory: tmpdir(),
			signals: wishes.handled ?? [],
			screen,
			stdout: shownOn(process.stdout),
			stderr,
			colours: {
				stdout: coloured(process.stdout, config.environment),
				stderr: coloured(process.stderr, config.environment),
			},
			standIn: wishes.barrier?.spawner,
		};
		const { onNode } = wishes;
		const launcher = new NodeLauncher(config, place, {
			probe: wishes.barrier?.probe,
			onNode: onNode && carefully(onNode, (words) => log.warn(words)),
		});
		connectSignals(wishes, launcher, cleanups);
		wishes.onPassedOn?.((signal) => launcher.passOn(signal));
		return await launcher.toTheEnd();
	} finally {
		await cleanups.run(log);
		log.close();
	}
}

/** The first signal asks the agent to leave, or says that its machine goes; the last one to leave without grace. */
function connectSignals(
	{ signal, insistSignal, killSignal, handled = [] }: StopSignals,
	launcher: NodeLauncher,
	cleanups: Cleanups,
): void {
	const connect = (
		source: AbortSignal | undefined,
		hear: (stop: StopReason) => void,
	) => {
		if (source === undefined) return;
		const ask = () => hear(stopOf(source.reason, handled));
		if (source.aborted) ask();
		else source.addEventListener("abort", ask, { once: true });
		cleanups.add("letting a signal go", () =>
			source.removeEventListener("abort", ask),
		);
	};
	connect(signal, (stop) => launcher.signalled(stop));
	connect(insistSignal, (stop) => launcher.askToStop(stop, false));
	connect(killSignal, (stop) => launcher.askToStop(stop, true));
}

/** Workers get a signal that the user has handled; one that is only like a SIGTERM is SIGTERM for them. */
function stopOf(
	reason: unknown,
	handled: readonly NodeJS.Signals[],
): StopReason {
	if (typeof reason === "object" && reason !== null && "signal" in reason) {
		const name = String(reason.signal);
		const number = new Map(Object.entries(constants.signals)).get(name);
		const signal = handled.find((one) => one === name);
		if (number !== undefined)
			return { exitCode: 128 + number, reason: name, signal };
	}
	return { exitCode: ABORTED_EXIT_CODE, reason: "stopped by its caller" };
}

function isSameTerminal(one: Terminal, other: Terminal): boolean {
	return fstatSync(one.fd).rdev === fstatSync(other.fd).rdev;
}

function coloured(
	stream: { readonly isTTY?: boolean },
	environment: Readonly<Record<string, string | undefined>>,
): boolean {
	return stream.isTTY === true && !environment.NO_COLOR;
}

/** Calls a program's function; an error of its own is a warning, once. */
function carefully<Value>(
	call: (value: Value) => unknown,
	warn: (message: string) => void,
): (value: Value) => void {
	let hasFailed = false;
	return (value) =>
		void callUser(
			() => call(value),
			(error) => {
				if (!hasFailed) warn(`onEvent: ${messageOf(error)}`);
				hasFailed = true;
			},
		);
}

const METHODS = ["debug", "info", "warn", "error"] as const;

/** Takes a log's JSON lines for a program's own logger, or for nobody. What that logger fails of ends no run. */
function programLog(log: false | Logger): Writable {
	return new Writable({
		write(line, _, done) {
			if (log !== false) {
				void callUser(
					() => tell(log, String(line)),
					() => {},
				);
			}
			done();
		},
	});
}

function tell(log: Logger, line: string): unknown {
	const { level, time: _, msg, ...details } = JSON.parse(line);
	const method = METHODS.find((name) => name === level) ?? "info";
	return log[method](String(msg), details);
}
