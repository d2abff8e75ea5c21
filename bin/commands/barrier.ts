import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { isAbsolute, normalize, resolve } from "node:path";
import { systemClock } from "../../src/base/clock.js";
import { messageOf } from "../../src/base/errors.js";
import type { AgentConfig } from "../../src/config/agent-config.js";
import { type Host, systemHost } from "../../src/config/host.js";
import { invalid, ok, type Parsed } from "../../src/config/parse/parsed.js";
import { wholeNumber } from "../../src/config/parse/scalars.js";
import { checkSettings } from "../../src/config/resolve.js";
import type { Settings } from "../../src/config/settings.js";
import { readCommandLine } from "../../src/config/sources.js";
import type { ProbePlace } from "../../src/http/open-probe.js";
import { ExitFileSpawner, exitCodeIn } from "../../src/processes/index.js";
import type { RunReport } from "../../src/status/report.js";
import { isColoured, say } from "../console.js";
import { takeEnvironment } from "../own-environment.js";
import { listenForStopSignals } from "../stop-signals.js";
import { FlagReader, refuse, withArguments } from "./command-arguments.js";
import { BARRIER_FLAGS } from "./command-table.js";

const ABOUT = `An agent without workers, as a sidecar of a pod: it joins the run's next round,
and answers its start-up probe (GET, default /barrier-is-down) with 503 until
that round has begun, then with 200. The pod's other containers start behind
the probe. When the round is over it ends with --exit-code-restart (76), for
the kubelet to start the containers of the pod again; at the run's end with the
run's exit code. Another container tells in --exit-file how its work ended (its
exit code and a newline): 0 is this node's part done, all else a failure, which
is charged as a worker's. With --outcome-file the run's exit code is written
there at its end, for that container to wait for and exit with. SIGTERM: this
node leaves, as with a launch.
Exit code: as of a launch; 76 if another round follows; 2 for bad flags.
`;

/** Takes part in a run for a pod whose containers do the work. Returns the exit code. */
export function barrier(args: readonly string[]): Promise<number> {
	return withArguments("barrier", ABOUT, args, ({ flags }) => begin(flags));
}

async function begin(flags: Settings): Promise<number> {
	const host = systemHost(takeEnvironment());
	const choice = readBarrier(flags, host.cwd);
	const { config, problems, warnings } = await readConfig(flags, host);
	const all = [...("problems" in choice ? choice.problems : []), ...problems];
	if ("problems" in choice || config === undefined || all.length > 0) {
		return refuse(all);
	}
	const before = outcomeIn(choice.outcomeFile);
	if (before !== undefined) {
		say(`the run has ended with ${before}, says ${choice.outcomeFile}`);
		return before;
	}
	return await takePart(config, choice, warnings, host.isHangupIgnored);
}

/** The settings of a launch, without a command. */
async function readConfig(flags: Settings, host: Host) {
	const own = new Set(BARRIER_FLAGS.map(({ name }) => name));
	const launch = new Map([...flags].filter(([key]) => !own.has(key)));
	const line = { flags: launch, script: undefined, args: [], problems: [] };
	const { request, ...reading } = await readCommandLine(line, host);
	const { config, ...check } = await checkSettings(request, host);
	const problems = [...check.problems];
	if (config?.isRunIdDerived) {
		problems.push("barrier: a run without a command needs a name: --run-id");
	}
	for (const note of reading.notes) say(note);
	return {
		config,
		problems,
		warnings: [...reading.warnings, ...check.warnings],
	};
}

async function takePart(
	common: Omit<AgentConfig, "command">,
	choice: BarrierChoice,
	warnings: readonly string[],
	isHangupIgnored: boolean,
): Promise<number> {
	const { launchResolved } = await import("../../src/launch/launch.js");
	const { exitFile, outcomeFile, probe } = choice;
	const spawner = new ExitFileSpawner({
		clock: systemClock,
		file: exitFile,
		warn: say,
	});
	const signals = listenForStopSignals(common, isHangupIgnored);
	const stop = new AbortController();
	signals.stop.addEventListener("abort", () => {
		// The kubelet ends a sidecar when the other containers have ended.
		spawner.look();
		stop.abort(signals.stop.reason);
	});
	try {
		const report = await launchResolved(withoutWorkers(common), warnings, {
			signal: stop.signal,
			insistSignal: signals.insist,
			killSignal: signals.kill,
			handled: common.signalsToHandle,
			barrier: { spawner, probe },
		});
		if (report.outcome !== "left") writeOutcome(outcomeFile, report);
		const { formatReport } = await import("../../src/status/report-text.js");
		// It has no processes to tell of.
		const told = { ...report, workers: [] };
		process.stderr.write(formatReport(told, isColoured(process.stderr)));
		return report.exitCode;
	} finally {
		signals.release();
	}
}

/** One place in the world for the whole pod, and no files for output that goes elsewhere. */
function withoutWorkers(common: Omit<AgentConfig, "command">): AgentConfig {
	const inherited = [{ stdout: false, stderr: false }];
	return {
		...common,
		command: {
			file: "",
			args: [],
			cwd: process.cwd(),
			display: "barrier",
			typed: ["barrier"],
		},
		// A launch under the same run id is refused.
		policyId: "barrier",
		nprocPerNode: 1,
		stdinRank: undefined,
		redirects: inherited,
		tee: inherited,
		http: undefined,
		isRecreated: true,
		// It sees no steps, and all failures are the same to it. The kubelet waits between restarts.
		maxIdenticalFailures: 0,
		restartDelay: { leastMs: 0, mostMs: 0 },
	};
}

function outcomeIn(file: string | undefined): number | undefined {
	if (file === undefined) return undefined;
	try {
		return exitCodeIn(readFileSync(file, "utf8"));
	} catch {
		return undefined;
	}
}

/** Written whole: somebody waits for it. */
function writeOutcome(file: string | undefined, { exitCode }: RunReport): void {
	if (file === undefined) return;
	try {
		writeFileSync(`${file}.new`, `${exitCode}\n`);
		renameSync(`${file}.new`, file);
	} catch (error) {
		say(`--outcome-file ${file} cannot be written: ${messageOf(error)}`);
	}
}

const LARGEST_PORT = 65_535;
const DEFAULT_PATH = "/barrier-is-down";

/** What a barrier is told besides the rendezvous. */
interface BarrierChoice {
	readonly probe: ProbePlace;
	/** Absolute; undefined: nobody says how the work ends. */
	readonly exitFile: string | undefined;
	/** Absolute; undefined: nobody waits for the outcome. */
	readonly outcomeFile: string | undefined;
}

function readBarrier(
	flags: Settings,
	cwd: string,
): BarrierChoice | { readonly problems: readonly string[] } {
	const reader = new FlagReader("barrier", flags);
	const port = reader.read("probe-port", parseProbePort);
	const path = reader.read("probe-path", parseProbePath) ?? DEFAULT_PATH;
	const file = (name: string) => reader.read(name, (text) => ok(at(cwd, text)));
	const choice = {
		exitFile: file("exit-file"),
		outcomeFile: file("outcome-file"),
	};
	if (!flags.has("probe-port")) {
		reader.refuse("--probe-port is missing; give the port of the probe");
	}
	return port === undefined || reader.problems.length > 0
		? { problems: reader.problems }
		: { ...choice, probe: { port, path } };
}

function at(cwd: string, file: string): string {
	return isAbsolute(file) ? normalize(file) : resolve(cwd, file);
}

function parseProbePort(text: string): Parsed<number> {
	const port = wholeNumber(text, 0);
	return port !== undefined && port <= LARGEST_PORT
		? ok(port)
		: invalid(text, `a port, 0 (a free one) to ${LARGEST_PORT}`);
}

function parseProbePath(text: string): Parsed<string> {
	return /^\/[^\s?#]*$/.test(text)
		? ok(text)
		: invalid(text, "a path that begins with a slash, without ? and #");
}
