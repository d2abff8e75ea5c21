import { delimiter } from "node:path";
import type { WorkerInfo } from "../../channel/index.js";
import type { AgentConfig } from "../../config/index.js";
import type { WorkerSpec } from "../../processes/index.js";

type Place = Omit<WorkerInfo, "getPgParameters">;

/** The part of an agent's configuration that its workers see. */
type EnvironmentConfig = Pick<
	AgentConfig,
	| "environment"
	| "pythonPath"
	| "pythonHook"
	| "nodeId"
	| "maxRestarts"
	| "virtualLocalRank"
>;

export interface WorkerOwner<Config = AgentConfig> {
	readonly config: Config;
	/** The agent process's incarnation, by which its guard recognises the worker and its descendants. */
	readonly incarnation: string;
}

/** What differs from worker to worker, and from round to round. */
export interface WorkerPlace {
	readonly info: Place;
	readonly instance: number;
	readonly channel: string;
	readonly errorFile: string;
	/** Where the hook of this worker writes; undefined if it has none. */
	readonly hook: string | undefined;
}

const OWN_PREFIX = "ELASTIC_RUN_";

/**
 * The environment of one worker: the parent's, overridden by torchrun's variables with torchrun's meanings and by
 * elastic-run's own. The launcher's settings, including credentials, are removed.
 */
export function workerEnvironment(
	{ config, incarnation }: WorkerOwner<EnvironmentConfig>,
	{ info, instance, channel, errorFile, hook }: WorkerPlace,
): Record<string, string> {
	const { environment: parent } = config;
	const own = {
		RANK: String(info.rank),
		LOCAL_RANK: String(info.localRank),
		GROUP_RANK: String(info.groupRank),
		ROLE_RANK: String(info.roleRank),
		ROLE_NAME: info.role,
		WORLD_SIZE: String(info.worldSize),
		LOCAL_WORLD_SIZE: String(info.localWorldSize),
		GROUP_WORLD_SIZE: String(info.groupWorldSize),
		ROLE_WORLD_SIZE: String(info.roleWorldSize),
		MASTER_ADDR: info.masterAddr,
		MASTER_PORT: String(info.masterPort),
		TORCHELASTIC_RESTART_COUNT: String(info.restartCount),
		TORCHELASTIC_MAX_RESTARTS: String(config.maxRestarts),
		TORCHELASTIC_RUN_ID: info.runId,
		TORCHELASTIC_ERROR_FILE: errorFile,
		TORCHELASTIC_USE_AGENT_STORE: "False",
		ELASTIC_RUN_CHANNEL: channel,
		ELASTIC_RUN_INSTANCE: String(instance),
		ELASTIC_RUN_ROUND: String(info.round),
		ELASTIC_RUN_RUN_ID: info.runId,
		ELASTIC_RUN_NODE_ID: config.nodeId,
		ELASTIC_RUN_INCARNATION: incarnation,
	};
	// A literal with so many spread into it takes ten times as long.
	return Object.assign(
		defaults(info),
		inherited(parent),
		pythonPath(config),
		nodeOptions(parent.NODE_OPTIONS, info.localRank),
		own,
		hook === undefined ? {} : { ELASTIC_RUN_HOOK: hook },
		config.virtualLocalRank
			? ownDevice(parent.CUDA_VISIBLE_DEVICES, info.localRank)
			: {},
	);
}

/** The worker's own device of those that the launcher may use, as the only one. */
function ownDevice(
	visible: string | undefined,
	localRank: number,
): Record<string, string> {
	const device = visible?.split(",")[localRank]?.trim();
	return {
		LOCAL_RANK: "0",
		CUDA_VISIBLE_DEVICES:
			visible === undefined ? String(localRank) : (device ?? ""),
	};
}

/** The defaults for variables that the user has not set. */
function defaults(info: Place): Record<string, string> {
	return {
		PYTHONUNBUFFERED: "1",
		PYTHONFAULTHANDLER: "1",
		// The console shows a bar as often; each redraw stays in the worker's file.
		TQDM_MININTERVAL: "5",
		// Several workers that each start a thread per core slow each other down.
		...(info.localWorldSize > 1 ? { OMP_NUM_THREADS: "1" } : {}),
	};
}

/**
 * The library is last, so that the user's modules come first; the hook is first, because Python imports one
 * `sitecustomize` only. An empty entry of the user's means the working directory, an empty variable nothing.
 */
function pythonPath({
	environment: { PYTHONPATH },
	pythonPath: library,
	pythonHook: hook,
}: EnvironmentConfig): Record<string, string> {
	const own = PYTHONPATH ? PYTHONPATH.split(delimiter) : [];
	const users = own.filter((entry) => entry !== hook);
	const isThere = library === undefined || users.includes(library);
	const entries = [
		...(hook === undefined ? [] : [hook]),
		...users,
		...(isThere ? [] : [library]),
	];
	return entries.length === 0 ? {} : { PYTHONPATH: entries.join(delimiter) };
}

function nodeOptions(
	own: string | undefined,
	localRank: number,
): Record<string, string> {
	return own === undefined
		? {}
		: { NODE_OPTIONS: withInspectorPort(own, localRank) };
}

/** Without the launcher's settings and secrets. */
function inherited(
	parent: EnvironmentConfig["environment"],
): Record<string, string> {
	const kept: Record<string, string> = {};
	for (const [name, value] of Object.entries(parent)) {
		if (value !== undefined && !name.startsWith(OWN_PREFIX)) {
			kept[name] = value;
		}
	}
	return kept;
}

/** The environment of a command of the user's that the agent runs. */
export function shellEnvironment({
	environment,
	runId,
	nodeId,
	role,
	localAddr,
}: Pick<
	AgentConfig,
	"environment" | "runId" | "nodeId" | "role" | "localAddr"
>): Readonly<Record<string, string | undefined>> {
	return {
		...inherited(environment),
		ELASTIC_RUN_RUN_ID: runId,
		ELASTIC_RUN_NODE_ID: nodeId,
		ELASTIC_RUN_ROLE: role,
		...(localAddr !== undefined && { ELASTIC_RUN_LOCAL_ADDR: localAddr }),
	};
}

/** torchrun's placeholder in the arguments of a worker. */
const LOCAL_RANK = "$" + "{local_rank}";

export function commandOf(
	{ command, stdinRank }: Pick<AgentConfig, "command" | "stdinRank">,
	localRank: number,
) {
	const { file, cwd } = command;
	const args = command.args.map((text) =>
		text.replaceAll(LOCAL_RANK, String(localRank)),
	);
	return { localRank, file, args, cwd, readsStdin: localRank === stdinRank };
}

/** A worker of this node before its place is known: what depends on the place is empty. */
export function workerWithoutPlace(owner: WorkerOwner): WorkerSpec {
	const { config } = owner;
	const info = {
		localRank: 0,
		roleRank: 0,
		rank: 0,
		groupRank: 0,
		localWorldSize: config.nprocPerNode,
		roleWorldSize: 0,
		worldSize: 0,
		groupWorldSize: 0,
		role: config.role,
		runId: config.runId,
		masterAddr: "",
		masterPort: 0,
		round: 0,
		restartCount: 0,
	};
	const files = { hook: undefined, channel: "", errorFile: "" };
	return {
		...commandOf(config, 0),
		env: workerEnvironment(owner, { info, instance: 0, ...files }),
		stdout: 1,
		stderr: 2,
	};
}

const INSPECTOR_OPTION =
	/(?<=^|\s)--(?:inspect|inspect-brk|inspect-wait|inspect-port|debug-port)(?:=\S+)?(?=\s|$)/g;
const DEFAULT_PORT = 9229;
const TAKES_PORT_ONLY = /^--(?:inspect|debug)-port/;

/**
 * The value of NODE_OPTIONS for a local rank: if it asks for a debugger's port, each worker gets the next one. The host,
 * and port 0, which the system replaces, stay unchanged.
 */
export function withInspectorPort(options: string, localRank: number): string {
	if (localRank === 0) return options;
	const words = options.match(INSPECTOR_OPTION) ?? [];
	const isPortApart = words.some((word) => TAKES_PORT_ONLY.test(word));
	return options.replace(INSPECTOR_OPTION, (word) => {
		const [name = "", value] = word.split("=");
		if (value === undefined) {
			return isPortApart ? word : `${name}=${DEFAULT_PORT + localRank}`;
		}
		const { host, port } = parseAddress(value);
		return port === 0 ? word : `${name}=${host}${port + localRank}`;
	});
}

/** `host` includes the colon after it. */
function parseAddress(value: string): { host: string; port: number } {
	const [, host = "", port] = /^(.*:)?(\d+)$/.exec(value) ?? [];
	return port === undefined
		? { host: `${value}:`, port: DEFAULT_PORT }
		: { host, port: Number(port) };
}
