import { delimiter } from "node:path";
import type { WorkerInfo } from "../../channel/events.js";
import type { AgentConfig } from "../../config/agent-config.js";
import { withInspectorPort } from "./inspector-port.js";

/** The part of an agent's configuration that its workers see. */
type EnvironmentConfig = Pick<
	AgentConfig,
	"environment" | "pythonPath" | "pythonHook" | "nodeId" | "maxRestarts"
>;

/** Whose workers they are. */
export interface WorkerOwner<Config = AgentConfig> {
	readonly config: Config;
	/** The agent process's incarnation, by which its guard recognises the worker and its descendants. */
	readonly incarnation: string;
}

/** What differs from worker to worker, and from round to round. */
export interface WorkerPlace {
	readonly info: WorkerInfo;
	readonly instance: number;
	/** The worker's channel directory. */
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
	return {
		...defaults(info),
		...inherited(parent),
		...pythonPath(config),
		...nodeOptions(parent.NODE_OPTIONS, info.localRank),
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
		...(hook === undefined ? {} : { ELASTIC_RUN_HOOK: hook }),
	};
}

/** The defaults for variables that the user has not set. */
function defaults(info: WorkerInfo): Record<string, string> {
	return {
		PYTHONUNBUFFERED: "1",
		PYTHONFAULTHANDLER: "1",
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
