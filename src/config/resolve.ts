import { ElasticRunError } from "../base/errors.js";
import type { RestartPolicyStrategy } from "../policies/strategy.js";
import type { AgentConfig, WorkerCommand } from "./agent-config.js";
import { channelBase } from "./channel-base.js";
import type { CommandProblem } from "./find-program.js";
import type { Host } from "./host.js";
import { OPTIONS } from "./options.js";
import {
	isPython,
	mayStartPython,
	pythonHook,
	pythonLibrary,
} from "./python-path.js";
import { resolveCommand } from "./resolve-command.js";
import type { LoginVariables } from "./resolve-credentials.js";
import { restartsConfig, stepsConfig } from "./resolve-failures.js";
import { resolveHttp } from "./resolve-http.js";
import { resolveIdentity } from "./resolve-identity.js";
import { resolveLogs } from "./resolve-logs.js";
import { preflightConfig, replaceNodeConfig } from "./resolve-nodes.js";
import { resolveNotices } from "./resolve-notices.js";
import { resolvePolicy } from "./resolve-policy.js";
import { resolveRendezvous } from "./resolve-rendezvous.js";
import { resolveWorkerCount } from "./resolve-worker-count.js";
import { type NameOf, SettingReader, type Settings } from "./settings.js";

/** What to run, and how. */
export interface ResolveRequest {
	/** Undefined if there is none; `problems` says why. */
	readonly script: string | undefined;
	readonly args: readonly string[];
	/** Absolute path: working directory of the workers, and base of relative paths. */
	readonly cwd: string;
	/** The environment of the workers; its PATH is searched. */
	readonly environment: Readonly<Record<string, string | undefined>>;
	readonly settings: Settings;
	/** The store's login, if no setting names it. */
	readonly login: LoginVariables;
	/** The token of `--http`, if no setting names it. */
	readonly httpToken: string | undefined;
	readonly nameOf: NameOf;
	/** A policy object overrides the setting. */
	readonly policy?: RestartPolicyStrategy | undefined;
	/** The problems found in the sources of the settings. */
	readonly problems: readonly string[];
}

/** The configuration without the command. */
export type CommonConfig = Omit<AgentConfig, "command">;

/** The resolved settings and all their problems, one per line. */
export interface SettingsCheck {
	/** Undefined if there is a problem. */
	readonly config: CommonConfig | undefined;
	readonly problems: readonly string[];
	readonly warnings: readonly string[];
}

/**
 * A valid configuration, or one error that lists all problems, one per line: USAGE, or COMMAND_NOT_FOUND or
 * COMMAND_NOT_EXECUTABLE if only the command is at fault.
 */
export type Resolution = { readonly warnings: readonly string[] } & (
	| { readonly config: AgentConfig }
	| { readonly error: ElasticRunError }
);

/** Checks everything and reports all problems at once. Starts and contacts nothing. */
export async function resolveSettings(
	request: ResolveRequest,
	host: Host,
): Promise<Resolution> {
	const { config, problems, warnings } = await checkSettings(request, host);
	const command = await findCommand(request, host);
	if (config !== undefined && command !== undefined && "file" in command) {
		return { config: { ...config, command }, warnings };
	}
	const refused =
		command !== undefined && "code" in command ? command : undefined;
	const code = problems.length === 0 ? refused?.code : "USAGE";
	const all = [
		...problems,
		...(refused === undefined ? [] : [refused.message]),
	];
	return {
		error: new ElasticRunError(code ?? "USAGE", all.join("\n")),
		warnings,
	};
}

/** Like `resolveSettings`, but without the command, which may be missing. */
export async function checkSettings(
	request: ResolveRequest,
	host: Host,
): Promise<SettingsCheck> {
	const problems = [...request.problems];
	const warnings: string[] = [];
	const report = (message: string) => problems.push(message);
	const reader = new SettingReader(request.settings, report, request.nameOf);
	const warn = (message: string) => warnings.push(message);
	const rendezvous = await resolveRendezvous(reader, request, warn);
	const nprocPerNode = await resolveWorkerCount(reader, request, host);
	const policy = await resolvePolicy(reader, request, warn);
	const partial = {
		environment: request.environment,
		pythonPath: pythonPathFor(request, reader),
		hasHook: !reader.value(OPTIONS.noHook),
		warm: reader.value(OPTIONS.warm),
		pythonHook: pythonHookFor(request, reader),
		...rendezvous,
		nprocPerNode,
		stdinRank: stdinRank(reader, nprocPerNode, host, warn),
		...resolveIdentity(reader, request, rendezvous, host),
		role: reader.value(OPTIONS.role),
		...restartsConfig(reader, rendezvous),
		preflight: preflightConfig(reader),
		replaceNode: replaceNodeConfig(reader),
		shutdownTimeoutMs: reader.value(OPTIONS.shutdownTimeout),
		pauseTimeoutMs: reader.value(OPTIONS.pauseTimeout),
		steps: stepsConfig(reader),
		...resolveNotices(reader, request, warn),
		...(await resolveLogs(reader, { ...request, nprocPerNode })),
		http: await resolveHttp(reader, request, warn),
		noticeSignal: reader.given(OPTIONS.noticeSignal),
		signalsToHandle: signalsToHandle(reader, host),
		channelBase: await channelBase(host),
	};
	// The command obeys this one; it is read here so that its value is checked like all others.
	reader.value(OPTIONS.dryRun);
	reader.value(OPTIONS.verbose);
	reader.value(OPTIONS.noNode);
	const config =
		problems.length === 0 && policy !== undefined
			? { ...partial, ...policy }
			: undefined;
	return { config, problems, warnings };
}

/** One worker reads what the user types or pipes in, like a program without a launcher. */
function stdinRank(
	reader: SettingReader,
	nprocPerNode: number,
	{ stdin }: Host,
	warn: (message: string) => void,
): number | undefined {
	const given = reader.given(OPTIONS.stdin);
	if (given === "none") return undefined;
	if (given !== undefined) {
		if (given < nprocPerNode) return given;
		const ranks = `0 to ${nprocPerNode - 1}`;
		reader.refuse(
			OPTIONS.stdin,
			`${given} is no local rank here; use one of ${ranks}, or none`,
		);
		return undefined;
	}
	if (stdin === "other") return undefined;
	if (nprocPerNode === 1) return 0;
	if (stdin === "pipe") {
		warn(
			`stdin is a pipe, and none of the ${nprocPerNode} workers reads it; name the local rank that shall with --stdin RANK, or say --stdin none`,
		);
	}
	return undefined;
}

/** A user who names SIGHUP gets it, even under nohup. */
function signalsToHandle(
	reader: SettingReader,
	{ isHangupIgnored }: Host,
): readonly NodeJS.Signals[] {
	const signals = reader.value(OPTIONS.signalsToHandle);
	const isAsked = reader.given(OPTIONS.signalsToHandle) !== undefined;
	return isHangupIgnored && !isAsked
		? signals.filter((signal) => signal !== "SIGHUP")
		: signals;
}

function pythonPathFor(
	{ script = "" }: ResolveRequest,
	reader: SettingReader,
): string | undefined {
	const isUnwanted = reader.value(OPTIONS.noPythonPath);
	const isWanted = reader.value(OPTIONS.module) || isPython(script);
	return isWanted && !isUnwanted ? pythonLibrary() : undefined;
}

/** Also for commands that are not Python by their name. */
function pythonHookFor(
	{ script = "" }: ResolveRequest,
	reader: SettingReader,
): string | undefined {
	const mayUse = reader.value(OPTIONS.module) || mayStartPython(script);
	return mayUse && !reader.value(OPTIONS.noHook) ? pythonHook() : undefined;
}

/** The request's command, checked; or its problem; undefined if there is none. */
export async function findCommand(
	request: ResolveRequest,
	host: Host,
): Promise<WorkerCommand | CommandProblem | undefined> {
	const { script, settings, nameOf } = request;
	if (script === undefined) return undefined;
	const reader = new SettingReader(settings, () => {}, nameOf);
	return resolveCommand({
		...request,
		script,
		asItIs: reader.value(OPTIONS.noNode),
		isModule: reader.value(OPTIONS.module),
		hasHook: !reader.value(OPTIONS.noHook),
		node: host.node,
	});
}
