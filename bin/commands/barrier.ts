import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { attempt } from "../../src/base/attempt.js";
import { systemClock } from "../../src/base/clock.js";
import { ElasticRunError, messageOf } from "../../src/base/errors.js";
import {
	type AgentConfig,
	checkSettings,
	type Host,
	invalid,
	OPTIONS,
	type Option,
	ok,
	optionsOf,
	type Parsed,
	readCommandLine,
	SettingReader,
	type Settings,
	wholeNumber,
} from "../../src/config/index.js";
import type { ProbePlace } from "../../src/http/index.js";
import { ExitFileSpawner, exitCodeIn } from "../../src/processes/index.js";
import type { RunReport } from "../../src/status/index.js";
import { CliCommand, type CommandArguments } from "../command.js";
import { isColoured, say } from "../console.js";
import { ownHost } from "../own-host.js";
import { STORE_OPTIONS } from "../run-command.js";
import { listenForStopSignals } from "../stop-signals.js";

const ABOUT = `An agent without workers, as a sidecar of a pod: it joins the run's next round,
and answers its start-up probe (GET) with 503 until that round has begun, then
with 200. The pod's other containers start behind
the probe. When the round is over it ends with --exit-code-restart (76), for
the kubelet to start the containers of the pod again; at the run's end with the
run's exit code. Another container tells in --exit-file how its work ended (its
exit code and a newline): 0 is this node's part done, all else a failure, which
is charged as a worker's. With --outcome-file the run's exit code is written
there at its end, for that container to wait for and exit with. SIGTERM: this
node leaves, as with a launch.
In a pod of a JobSet, NAMESPACE and JOBSET_NAME name the run, POD_NAME the node,
and RESTART_POD_IN_PLACE_EXIT_CODE is --exit-code-restart, where nothing else
says so.
Exit code: as of a launch; 76 if another round follows; 2 for bad flags.`;

/** The probe's own path, and the one of JobSet's proposal for restarts in place. */
const PROBE_PATHS = ["/barrier-is-down", "/barrier-is-lifted"];

const FLAGS = optionsOf("Command", {
	probePort: {
		argument: "PORT",
		help: "the port of the probe",
		parse: parseProbePort,
	},
	probePath: {
		argument: "PATH",
		defaultHelp: PROBE_PATHS.join(" and "),
		help: "its path",
		parse: parseProbePath,
	},
	exitFile: {
		argument: "FILE",
		help: "where another container tells how its work ended",
		parse: ok<string>,
	},
	outcomeFile: {
		argument: "FILE",
		help: "where the run's exit code is written",
		parse: ok<string>,
	},
});

export const command = new CliCommand("barrier", "", ABOUT)
	.takes(...Object.values(FLAGS))
	.takes(OPTIONS.nnodes, OPTIONS.runId, OPTIONS.nodeId, ...STORE_OPTIONS)
	.takes(OPTIONS.localAddr, OPTIONS.nodeRank, OPTIONS.role)
	.takes(OPTIONS.maxRestarts, OPTIONS.exitCodeRestart, OPTIONS.logDir)
	.takes(OPTIONS.logFormat, OPTIONS.signalsToHandle, OPTIONS.config)
	.does(begin);

async function begin({ given }: CommandArguments): Promise<number> {
	const host = ownHost();
	const problems: string[] = [];
	const refuse = (words: string) => problems.push(`barrier: ${words}`);
	const flags = new SettingReader(given, refuse, ({ name }) => `--${name}`);
	const port = flags.given(FLAGS.probePort) ?? 0;
	const path = flags.given(FLAGS.probePath);
	if (!given.has(FLAGS.probePort.key)) {
		refuse("--probe-port is missing; give the port of the probe");
	}
	const { config, warnings, ...read } = await readConfig(given, host);
	problems.push(...read.problems);
	if (config === undefined || problems.length > 0) {
		throw new ElasticRunError("USAGE", problems.join("\n"));
	}
	const fileOf = (option: Option<string>) => {
		const file = flags.given(option);
		return file === undefined ? undefined : resolve(host.cwd, file);
	};
	const choice = {
		probe: { port, paths: path === undefined ? PROBE_PATHS : [path] },
		exitFile: fileOf(FLAGS.exitFile),
		outcomeFile: fileOf(FLAGS.outcomeFile),
	};
	const before = outcomeIn(choice.outcomeFile);
	if (before !== undefined) {
		say(`the run has ended with ${before}, says ${choice.outcomeFile}`);
		return before;
	}
	const node = withoutWorkers(config);
	return await takePart(node, choice, warnings, host.isHangupIgnored);
}

/** The settings of a launch, without a command. */
async function readConfig(given: Settings, host: Host) {
	const launch = [...given].filter(([key]) => !Object.hasOwn(FLAGS, key));
	const line = {
		flags: new Map(launch),
		script: undefined,
		args: [],
		problems: [],
	};
	const { request, ...reading } = await readCommandLine(line, host);
	const settings = new Map([
		...jobSetSettings(host.environment),
		...request.settings,
	]);
	const { config, ...check } = await checkSettings(
		{ ...request, settings },
		host,
	);
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

/** What the variables say that JobSet's proposal gives the sidecar of a pod. */
function jobSetSettings({
	JOBSET_NAME,
	NAMESPACE,
	POD_NAME,
	RESTART_POD_IN_PLACE_EXIT_CODE,
}: Host["environment"]): Settings {
	const run = NAMESPACE ? "NAMESPACE, JOBSET_NAME" : "JOBSET_NAME";
	const runId = [NAMESPACE, JOBSET_NAME].filter(Boolean).join(".");
	const named: readonly [Option<unknown>, string, string | undefined][] = [
		[OPTIONS.runId, run, JOBSET_NAME && runId],
		[OPTIONS.nodeId, "POD_NAME", POD_NAME],
		[
			OPTIONS.exitCodeRestart,
			"RESTART_POD_IN_PLACE_EXIT_CODE",
			RESTART_POD_IN_PLACE_EXIT_CODE,
		],
	];
	return new Map(
		named.flatMap(([{ key }, variable, text]) => {
			const origin = `environment ${variable}`;
			return text ? [[key, { text, place: origin, origin }]] : [];
		}),
	);
}

async function takePart(
	config: AgentConfig,
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
	const signals = listenForStopSignals(config, isHangupIgnored);
	const stop = new AbortController();
	signals.stop.addEventListener("abort", () => {
		// The kubelet ends a sidecar when the other containers have ended.
		spawner.look();
		stop.abort(signals.stop.reason);
	});
	try {
		const report = await launchResolved(config, warnings, {
			signal: stop.signal,
			insistSignal: signals.insist,
			killSignal: signals.kill,
			handled: config.signalsToHandle,
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
		// SIGTERM finds nothing to wait for.
		notices: { ...common.notices, terminationGraceMs: undefined },
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
	return attempt(() => exitCodeIn(readFileSync(file, "utf8")));
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

/** What a barrier is told besides the rendezvous. */
interface BarrierChoice {
	readonly probe: ProbePlace;
	/** Absolute; undefined: nobody says how the work ends. */
	readonly exitFile: string | undefined;
	/** Absolute; undefined: nobody waits for the outcome. */
	readonly outcomeFile: string | undefined;
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
