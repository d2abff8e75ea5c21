import { ElasticRunError } from "../../errors.js";
import type { RestartPolicyStrategy } from "../../policies/strategy.js";
import type { AgentConfig, WorkerCommand } from "./agent-config.js";
import { channelBase } from "./channel-base.js";
import type { CommandProblem } from "./find-program.js";
import type { Host } from "./host.js";
import { OPTIONS } from "./options.js";
import { isPython, pythonLibrary } from "./python-path.js";
import { resolveCommand } from "./resolve-command.js";
import type { LoginVariables } from "./resolve-credentials.js";
import { resolveHttp } from "./resolve-http.js";
import { resolveIdentity } from "./resolve-identity.js";
import { resolveLogs } from "./resolve-logs.js";
import { resolvePolicy } from "./resolve-policy.js";
import { resolveRendezvous } from "./resolve-rendezvous.js";
import { resolveWorkerCount } from "./resolve-worker-count.js";
import { type NameOf, SettingReader, type Settings } from "./settings.js";

/** What somebody asks to run, and how. */
export interface ResolveRequest {
	/** Undefined where there is none; `problems` says why. */
	readonly script: string | undefined;
	readonly args: readonly string[];
	/** Absolute: working directory of the workers, and base of relative paths. */
	readonly cwd: string;
	/** What the workers inherit; its PATH counts. */
	readonly environment: Readonly<Record<string, string | undefined>>;
	readonly settings: Settings;
	/** Of the store, where no setting names it. */
	readonly login: LoginVariables;
	/** Of `--http`, where no setting names it. */
	readonly httpToken: string | undefined;
	readonly nameOf: NameOf;
	/** A policy that is there as an object comes before the setting. */
	readonly policy?: RestartPolicyStrategy | undefined;
	/** What was wrong with the sources of the settings. */
	readonly problems: readonly string[];
}

/** All that is configured, apart from the command. */
export type CommonConfig = Omit<AgentConfig, "command">;

/** What the settings say, and everything that is wrong with them, one problem a line. */
export interface SettingsCheck {
	/** Undefined where something is wrong. */
	readonly config: CommonConfig | undefined;
	readonly problems: readonly string[];
	readonly warnings: readonly string[];
}

/**
 * A configuration without fault, or one error that holds everything that is
 * wrong, one problem a line: USAGE; or COMMAND_NOT_FOUND or
 * COMMAND_NOT_EXECUTABLE where the command alone is at fault.
 */
export type Resolution = { readonly warnings: readonly string[] } & (
	| { readonly config: AgentConfig }
	| { readonly error: ElasticRunError }
);

/** Checks everything and reports all problems at once. Starts nothing and contacts nothing. */
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

/** As `resolveSettings`, apart from the command, which need not be there. */
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
		pythonPath: pythonPathFor(request, reader.value(OPTIONS.noPythonPath)),
		...rendezvous,
		nprocPerNode,
		...resolveIdentity(reader, request, rendezvous, host),
		role: reader.value(OPTIONS.role),
		maxRestarts: reader.value(OPTIONS.maxRestarts),
		shutdownTimeoutMs: reader.value(OPTIONS.shutdownTimeout),
		pauseTimeoutMs: reader.value(OPTIONS.pauseTimeout),
		...(await resolveLogs(reader, { ...request, nprocPerNode }, host)),
		http: await resolveHttp(reader, request, warn),
		signalsToHandle: signalsToHandle(reader, host),
		channelBase: await channelBase(host),
	};
	// Who asks for the command obeys them; whether they are valid is asked here, with all others.
	reader.value(OPTIONS.dryRun);
	reader.value(OPTIONS.noNode);
	const config =
		problems.length === 0 && policy !== undefined
			? { ...partial, ...policy }
			: undefined;
	return { config, problems, warnings };
}

/** Who names SIGHUP gets it, also under nohup. */
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
	isUnwanted: boolean | undefined,
): string | undefined {
	return isPython(script) && !isUnwanted ? pythonLibrary() : undefined;
}

/** The request's command, found and allowed; or what is wrong with it; undefined where there is none. */
export async function findCommand(
	request: ResolveRequest,
	host: Host,
): Promise<WorkerCommand | CommandProblem | undefined> {
	const { script, settings, nameOf } = request;
	if (script === undefined) return undefined;
	return resolveCommand({
		...request,
		script,
		asItIs: new SettingReader(settings, () => {}, nameOf).value(OPTIONS.noNode),
		node: host.node,
	});
}
