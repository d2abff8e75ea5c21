import { resolve } from "node:path";
import { ElasticRunError } from "../base/errors.js";
import type { AgentConfig } from "./agent-config.js";
import type { Host } from "./host.js";
import type { LaunchConfig } from "./launch-config.js";
import { mergeSettings } from "./merge-settings.js";
import { OPTIONS } from "./options.js";
import { type Resolution, resolveSettings } from "./resolve.js";
import { readNamedFile } from "./resolve-command-line.js";
import type { Report, SourceReading } from "./settings.js";
import { describe, isRecord, settingsFromValues } from "./values.js";

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
	if (!isRecord(config)) {
		throw new ElasticRunError(
			"USAGE",
			`launchAgent: expected a LaunchConfig, got ${describe(config)}; for example { script: "train.js" }`,
		);
	}
	const { script, args, cwd, env, signal, killSignal } = config;
	const problems = [
		...oddOf({ script, cwd }, isText, "a text"),
		...oddOf({ args }, areTexts, "a list of texts"),
		...oddOf({ env }, isRecord, "a map"),
		...oddOf(variablesOf(env), isText, "a text"),
		...oddOf({ signal, killSignal }, isSignal, "an AbortSignal"),
	];
	if (problems.length === 0) return;
	throw new ElasticRunError("USAGE", problems.join("\n"));
}

function variablesOf(env: unknown): Readonly<Record<string, unknown>> {
	const entries = isRecord(env) ? Object.entries(env) : [];
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
		isRecord(value) &&
		typeof value.aborted === "boolean" &&
		typeof value.addEventListener === "function"
	);
}
