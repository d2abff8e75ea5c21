import { fstatSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { systemClock } from "../clock.js";
import { Cleanups } from "./cleanups.js";
import type { AgentConfig } from "./configuration/agent-config.js";
import { systemHost } from "./configuration/host.js";
import type { LaunchConfig } from "./configuration/launch-config.js";
import { resolveLaunchConfig } from "./configuration/resolve-launch-config.js";
import { createLogger } from "./logs/create-logger.js";
import type { PinnedScreen } from "./logs/pinned-screen.js";
import { NodeRun } from "./node-run.js";
import type { RunReport } from "./report/run-report.js";
import { pid1Warning } from "./supervision/reap-warning.js";

/** SIGTERM's, for an AbortSignal whose reason names no signal. */
const ABORTED_EXIT_CODE = 128 + constants.signals.SIGTERM;

/** How a launch is stopped from outside. */
export interface StopWishes
	extends Pick<LaunchConfig, "signal" | "killSignal"> {
	/** Signals to this process that its caller turns into these wishes; none unless given. */
	readonly handled?: readonly NodeJS.Signals[];
	/** Keeps lines in view on the terminal that stderr leads to; none unless given. */
	readonly screen?: PinnedScreen | undefined;
}

type Terminal = NodeJS.WriteStream & { readonly fd: number };

/** Configuration in, report out. */
export async function launch(launchConfig: LaunchConfig): Promise<RunReport> {
	const warnings: string[] = [];
	const config = await resolveLaunchConfig(
		launchConfig,
		// Each look at a variable of `process.env` asks the system.
		systemHost({ ...process.env }),
		(warning) => warnings.push(warning),
	);
	const { signal, killSignal } = launchConfig;
	return launchResolved(config, warnings, { signal, killSignal });
}

/** The composition root. What it opens it closes, however the run ends. */
export async function launchResolved(
	config: AgentConfig,
	warnings: readonly string[],
	wishes: StopWishes,
): Promise<RunReport> {
	const cleanups = new Cleanups();
	const { screen } = wishes;
	const shownOn = (stream: Terminal) => {
		if (!stream.isTTY) return stream;
		// By one way to one terminal: nothing overtakes or tears anything there, however slow it is.
		const way = isSameTerminal(stream, process.stderr)
			? process.stderr
			: stream;
		return screen?.over(way) ?? way;
	};
	const stderr = shownOn(process.stderr);
	const log = await createLogger({
		stderr,
		format: config.logFormat,
		level: "info",
		wallTime: systemClock.wallTime,
		colour: coloured(process.stderr, config.environment),
	});
	const pid1 = pid1Warning(process);
	for (const warning of pid1 ? [...warnings, pid1] : warnings) {
		log.warn(warning);
	}
	try {
		const run = new NodeRun(config, {
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
		});
		connectSignals(wishes, run, cleanups);
		return await run.toTheEnd();
	} finally {
		await cleanups.run(log);
		log.close();
	}
}

/** The first signal asks the agent to leave, the second to do so without grace. */
function connectSignals(
	{ signal, killSignal }: StopWishes,
	run: NodeRun,
	cleanups: Cleanups,
): void {
	const connect = (source: AbortSignal | undefined, immediately: boolean) => {
		if (source === undefined) return;
		const ask = () => run.askToStop(stopOf(source.reason), immediately);
		if (source.aborted) ask();
		else source.addEventListener("abort", ask, { once: true });
		cleanups.add("letting a signal go", () =>
			source.removeEventListener("abort", ask),
		);
	};
	connect(signal, false);
	connect(killSignal, true);
}

function stopOf(reason: unknown): { exitCode: number; reason: string } {
	if (typeof reason === "object" && reason !== null && "signal" in reason) {
		const name = String(reason.signal);
		const number = new Map(Object.entries(constants.signals)).get(name);
		if (number !== undefined) return { exitCode: 128 + number, reason: name };
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
