import { resolve } from "node:path";
import { ElasticRunError } from "../base/errors.js";
import { isObject } from "../base/shape.js";
import type {
	RestartPolicy,
	RestartPolicyStrategy,
} from "../policies/index.js";
import type { AgentConfig } from "./agent-config.js";
import { mergeSettings } from "./exclusions.js";
import type { Host } from "./host.js";
import { OPTIONS } from "./options.js";
import { type Resolution, resolveSettings } from "./resolve.js";
import type { Report, SourceReading } from "./settings.js";
import { readNamedFile } from "./sources.js";
import { describe, settingsFromValues } from "./values.js";

/** A number of seconds, or a text with a unit: `"500ms"`, `"30s"`, `"10m"`, `"1h"`. */
export type Duration = number | string;

/** Streams of the workers: 0 none, 1 stdout, 2 stderr, 3 both. Either one value, or one per local rank. */
export type StreamChoice =
	| number
	| string
	| Readonly<Record<number, 0 | 1 | 2 | 3>>;

/**
 * What to run and how: every flag of the command in camelCase, with the same defaults and notations. Neither
 * `ELASTIC_RUN_*` variables nor a config file in the working directory are read: only the command reads these.
 */
export interface LaunchConfig {
	/** Script or command. */
	readonly script: string;
	/** Its arguments. Default: none. */
	readonly args?: readonly string[] | undefined;
	/** Working directory of the workers, and base of relative paths. Default: that of this process. */
	readonly cwd?: string | undefined;
	/** Environment of the workers. Default: that of this process. */
	readonly env?: Readonly<Record<string, string | undefined>> | undefined;
	/** Aborting it stops the workers gracefully. A reason `{ signal: "SIGTERM" }` makes the exit code 128+n. */
	readonly signal?: AbortSignal | undefined;
	/** Aborting it kills the workers at once. */
	readonly killSignal?: AbortSignal | undefined;

	readonly nprocPerNode?: number | string | undefined;
	/** The local rank of the worker that reads this process's stdin. Default: `"none"`. */
	readonly stdin?: number | "none" | undefined;
	readonly role?: string | undefined;
	readonly noNode?: boolean | undefined;
	/** `script` is the name of a Python module. */
	readonly module?: boolean | undefined;
	readonly noPythonPath?: boolean | undefined;
	readonly noHook?: boolean | undefined;
	/** Each worker sees its own GPU alone, as device 0, and LOCAL_RANK=0. */
	readonly virtualLocalRank?: boolean | undefined;
	readonly warm?: "auto" | "off" | undefined;
	readonly shutdownTimeout?: Duration | undefined;
	readonly pauseTimeout?: Duration | undefined;
	/** Also sent to the workers when their machine is about to go. */
	readonly noticeSignal?: string | undefined;
	/** Used by the command, which handles signals; `launchAgent` installs no handler. */
	readonly signalsToHandle?: string | readonly string[] | undefined;

	readonly nnodes?: number | string | undefined;
	readonly runId?: string | undefined;
	readonly nodeId?: string | undefined;
	readonly rdzvBackend?: "etcd" | "memory" | "c10d" | "static" | undefined;
	readonly rdzvEndpoint?: string | readonly string[] | undefined;
	/** `"join_timeout=600,…"`, or an object. */
	readonly rdzvConf?:
		| string
		| Readonly<Record<string, string | number>>
		| undefined;
	readonly rideOut?: Duration | undefined;
	readonly links?: "auto" | "off" | undefined;
	readonly masterAddr?: string | undefined;
	readonly masterPort?: number | string | undefined;
	readonly nodeRank?: number | string | undefined;
	readonly standalone?: boolean | undefined;
	readonly localAddr?: string | undefined;

	/** A built-in policy, the path of a module that exports one, or an object. */
	readonly restartPolicy?:
		| RestartPolicy
		| (string & {})
		| RestartPolicyStrategy
		| undefined;
	readonly maxRestarts?: number | string | undefined;
	/** `2`, or `"2/6h"`: failures on one node, failures of one role. */
	readonly maxNodeRestarts?: number | string | undefined;
	readonly maxRoleRestarts?: number | string | undefined;
	readonly maxPreemptions?: number | string | undefined;
	/** `"0:30s"`: least and longest wait before a restart while nothing makes progress; 0: none. */
	readonly restartDelay?: number | string | undefined;
	/** So many same failures in a row, without progress, end the run; 0: they do not. */
	readonly maxIdenticalFailures?: number | undefined;
	/** `"exit=3 => fail-run"`: asked before the policy; the first match decides. */
	readonly rule?: string | readonly string[] | undefined;
	readonly restartStrategy?: "in-place" | "recreate" | undefined;
	readonly exitCodeReplace?: number | string | undefined;
	readonly exitCodeRestart?: number | string | undefined;
	/** A failed run ends with the exit code of its root cause. */
	readonly propagateExitCode?: boolean | undefined;

	/** Run by `sh -c` before this node joins. */
	readonly preflightCommand?: string | undefined;
	readonly preflightTimeout?: Duration | undefined;
	/** Run by `sh -c` when a node is to be replaced. */
	readonly replaceNodeCommand?: string | undefined;
	readonly replaceNodeTimeout?: Duration | undefined;

	readonly failoverScope?: "run" | "role" | undefined;
	/** The run succeeds when the workers of these roles have. Default: all workers. */
	readonly driverRole?: string | readonly string[] | undefined;

	/** The source of a regular expression whose first group is the step number. */
	readonly stepPattern?: string | undefined;
	readonly hangTimeout?: Duration | "auto" | undefined;
	readonly startTimeout?: Duration | "auto" | undefined;
	readonly onHang?: "restart" | "report" | "fail" | undefined;
	readonly evidenceTimeout?: Duration | undefined;
	readonly exitTimeout?: Duration | undefined;
	readonly stuckTimeout?: Duration | undefined;

	/** `"auto"`, `"off"`, or some of `"aws"`, `"gcp"`, `"azure"`, `"slurm"`, `"file:PATH"`. */
	readonly notices?: string | readonly string[] | undefined;
	readonly onAdvice?: "drain" | "log" | undefined;
	readonly maxLifetime?: Duration | undefined;
	readonly drainBefore?: Duration | undefined;
	/** Used by the command, which handles signals. */
	readonly terminationGrace?: Duration | "auto" | undefined;
	readonly deadline?: Duration | undefined;

	readonly logDir?: string | undefined;
	readonly keepLogs?: number | undefined;
	readonly redirects?: StreamChoice | undefined;
	readonly tee?: StreamChoice | undefined;
	readonly logPrefix?: string | undefined;
	readonly localRanksFilter?: string | number | readonly number[] | undefined;
	readonly output?: "text" | "json" | undefined;
	readonly logFormat?: "pretty" | "json" | undefined;

	/** `"HOST:PORT"`, or `":PORT"` for this machine only: where this node serves its status. Default: nowhere. */
	readonly http?: string | undefined;
	/** The file with the token that clients must send. */
	readonly httpTokenFile?: string | undefined;

	/** A YAML or JSON file with further settings. Settings given here override it. */
	readonly config?: string | undefined;
}

const REFUSED_KEYS = new Map([
	[OPTIONS.dryRun.key, "is the command's alone; use elastic-run --dry-run"],
	[OPTIONS.verbose.key, "is the command's alone; use elastic-run --dry-run -v"],
]);

/**
 * Resolves a `LaunchConfig`. Rejects with one error that lists all problems, one per line: USAGE, or COMMAND_NOT_FOUND or
 * COMMAND_NOT_EXECUTABLE if only the command is at fault.
 */
export async function resolveLaunchConfig(
	config: LaunchConfig,
	host: Host,
	warn: Report = () => {},
): Promise<AgentConfig> {
	refuseOdd(config);
	const resolution = await resolveObject(config, host);
	for (const warning of resolution.warnings) warn(warning);
	if ("config" in resolution) return resolution.config;
	throw resolution.error;
}

async function resolveObject(
	config: LaunchConfig,
	host: Host,
): Promise<Resolution> {
	const {
		script,
		args = [],
		cwd = ".",
		env,
		signal: _,
		killSignal: __,
		restartPolicy,
		...values
	} = config;
	const policy = typeof restartPolicy === "object" ? restartPolicy : undefined;
	const base = resolve(host.cwd, cwd);
	const own = settingsFromValues(
		{
			...values,
			restartPolicy: policy === undefined ? restartPolicy : undefined,
		},
		{
			placeOf: (key) => key,
			origin: "LaunchConfig",
			refusedKeys: REFUSED_KEYS,
		},
	);
	const file = own.settings.get(OPTIONS.config.key);
	const sources: SourceReading[] = file
		? [own, await readNamedFile(file, base)]
		: [own];
	return resolveSettings(
		{
			script: script ?? "",
			args,
			cwd: base,
			environment: env ?? host.environment,
			settings: mergeSettings(sources.map((source) => source.settings)),
			// Only the command reads elastic-run's own variables.
			login: { username: undefined, password: undefined },
			httpToken: undefined,
			nameOf: (option) => option.key,
			policy,
			problems: sources.flatMap((source) => source.problems),
		},
		host,
	);
}

/** Untyped callers may pass anything. */
function refuseOdd(config: unknown): void {
	if (!isObject(config)) {
		throw new ElasticRunError(
			"USAGE",
			`launchAgent: expected a LaunchConfig, got ${describe(config)}; for example { script: "train.js" }`,
		);
	}
	const { script, args, cwd, env, signal, killSignal } = config;
	const problems = [
		...oddOf({ script, cwd }, isText, "a text"),
		...oddOf({ args }, areTexts, "a list of texts"),
		...oddOf({ env }, isObject, "a map"),
		...oddOf(variablesOf(env), isText, "a text"),
		...oddOf({ signal, killSignal }, isSignal, "an AbortSignal"),
	];
	if (problems.length === 0) return;
	throw new ElasticRunError("USAGE", problems.join("\n"));
}

function variablesOf(env: unknown): Readonly<Record<string, unknown>> {
	const entries = isObject(env) ? Object.entries(env) : [];
	return Object.fromEntries(
		entries.map(([name, value]) => [`env.${name}`, value]),
	);
}

function oddOf(
	values: Readonly<Record<string, unknown>>,
	isGood: (value: unknown) => boolean,
	expected: string,
): string[] {
	return Object.entries(values).flatMap(([key, value]) =>
		value === undefined || isGood(value)
			? []
			: [`${key}: expected ${expected}, got ${describe(value)}`],
	);
}

function isText(value: unknown): boolean {
	return typeof value === "string";
}

function areTexts(value: unknown): boolean {
	return Array.isArray(value) && value.every(isText);
}

/** Accepts a signal of another realm or of a library. */
function isSignal(value: unknown): boolean {
	return (
		isObject(value) &&
		typeof value.aborted === "boolean" &&
		typeof value.addEventListener === "function"
	);
}
