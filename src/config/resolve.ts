import { ElasticRunError } from "../base/errors.js";
import type { RestartPolicyStrategy } from "../policies/index.js";
import type { AgentConfig, WorkerCommand } from "./agent-config.js";
import type { LoginVariables } from "./environment.js";
import { channelBase, type Host } from "./host.js";
import { OPTIONS } from "./options.js";
import { checkPlacement } from "./placement.js";
import {
	type CommandProblem,
	pythonPaths,
	resolveCommand,
	warmStarts,
} from "./resolve-command.js";
import { resolveIdentity } from "./resolve-identity.js";
import {
	preflightConfig,
	replaceNodeConfig,
	resolveHttp,
	resolveNotices,
	resolvePolicy,
	restartsConfig,
	stepsConfig,
} from "./resolve-run.js";
import { resolveRendezvous } from "./resolve-store.js";
import {
	resolveLogs,
	resolveWorkerCount,
	signalsToHandle,
	stdinRank,
	virtualLocalRank,
} from "./resolve-workers.js";
import {
	type Environment,
	type NameOf,
	SettingReader,
	type Settings,
} from "./settings.js";

/** What to run, and how. */
export interface ResolveRequest {
	/** Undefined if there is none; `problems` says why. */
	readonly script: string | undefined;
	readonly args: readonly string[];
	/** Absolute path: working directory of the workers, and base of relative paths. */
	readonly cwd: string;
	/** The environment of the workers; its PATH is searched. */
	readonly environment: Environment;
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
	const { environment } = request;
	checkPlacement(reader, environment, rendezvous.maxNodes, warn);
	const nprocPerNode = await resolveWorkerCount(reader, request, host);
	const policy = await resolvePolicy(reader, request, warn);
	const partial = {
		environment,
		...pythonPaths(reader, request.script),
		hasHook: !reader.value(OPTIONS.noHook),
		warm: warmStarts(reader, request.script),
		virtualLocalRank: virtualLocalRank(reader, nprocPerNode, request),
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
		...(await resolveNotices(reader, request, warn)),
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
