import { delimiter } from "node:path";
import type { WorkerInfo } from "../channel/events.js";

export interface WorkerEnvironmentOptions {
	/** What the worker inherits. */
	readonly parent: Readonly<Record<string, string | undefined>>;
	/** What a Python worker finds the runtime library by; undefined to leave PYTHONPATH as it is. */
	readonly pythonPath: string | undefined;
	readonly info: WorkerInfo;
	readonly nodeId: string;
	/** Of the agent's process: by this its guard knows the worker, and all that it starts. */
	readonly incarnation: string;
	readonly instance: number;
	/** The worker's channel directory. */
	readonly channel: string;
	readonly errorFile: string;
	readonly maxRestarts: number;
}

const OWN_PREFIX = "ELASTIC_RUN_";

/**
 * The environment of one worker: the parent's, and over it torchrun's names
 * with torchrun's meanings, and elastic-run's own. The launcher's settings,
 * credentials among them, are not passed on.
 */
export function workerEnvironment(
	options: WorkerEnvironmentOptions,
): Record<string, string> {
	const { parent, info, maxRestarts } = options;
	return {
		...defaults(info),
		...inherited(parent),
		...pythonPath(parent.PYTHONPATH, options.pythonPath),
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
		TORCHELASTIC_MAX_RESTARTS: String(maxRestarts),
		TORCHELASTIC_RUN_ID: info.runId,
		TORCHELASTIC_ERROR_FILE: options.errorFile,
		TORCHELASTIC_USE_AGENT_STORE: "False",
		ELASTIC_RUN_CHANNEL: options.channel,
		ELASTIC_RUN_INSTANCE: String(options.instance),
		ELASTIC_RUN_ROUND: String(info.round),
		ELASTIC_RUN_RUN_ID: info.runId,
		ELASTIC_RUN_NODE_ID: options.nodeId,
		ELASTIC_RUN_INCARNATION: options.incarnation,
	};
}

/** What a worker gets where its user has not said otherwise. */
function defaults(info: WorkerInfo): Record<string, string> {
	return {
		PYTHONUNBUFFERED: "1",
		PYTHONFAULTHANDLER: "1",
		// Several workers that each start a thread for every core slow each other down.
		...(info.localWorldSize > 1 ? { OMP_NUM_THREADS: "1" } : {}),
	};
}

/** Last, so that the user's own modules come first. An empty entry would be the working directory. */
function pythonPath(
	own = "",
	directory: string | undefined,
): Record<string, string> {
	if (directory === undefined || own.split(delimiter).includes(directory)) {
		return {};
	}
	const PYTHONPATH = own === "" ? directory : own + delimiter + directory;
	return { PYTHONPATH };
}

function inherited(
	parent: WorkerEnvironmentOptions["parent"],
): Record<string, string> {
	const kept: Record<string, string> = {};
	for (const [name, value] of Object.entries(parent)) {
		if (value !== undefined && !name.startsWith(OWN_PREFIX)) {
			kept[name] = value;
		}
	}
	return kept;
}
