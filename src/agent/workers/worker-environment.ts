import { delimiter } from "node:path";
import type { WorkerInfo } from "../../channel/events.js";
import { withInspectorPort } from "./inspector-port.js";

export interface WorkerEnvironmentOptions {
	/** The inherited environment. */
	readonly parent: Readonly<Record<string, string | undefined>>;
	/** The directory of the runtime library for Python workers; undefined leaves PYTHONPATH unchanged. */
	readonly pythonPath: string | undefined;
	/** The directory of the hook for Python workers; undefined if they have none. */
	readonly pythonHook: string | undefined;
	/** Where the hook of this worker writes; undefined if it has none. */
	readonly hook: string | undefined;
	readonly info: WorkerInfo;
	readonly nodeId: string;
	/** The agent process's incarnation, by which its guard recognises the worker and its descendants. */
	readonly incarnation: string;
	readonly instance: number;
	/** The worker's channel directory. */
	readonly channel: string;
	readonly errorFile: string;
	readonly maxRestarts: number;
}

const OWN_PREFIX = "ELASTIC_RUN_";

/**
 * The environment of one worker: the parent's, overridden by torchrun's variables with torchrun's meanings and by
 * elastic-run's own. The launcher's settings, including credentials, are removed.
 */
export function workerEnvironment(
	options: WorkerEnvironmentOptions,
): Record<string, string> {
	const { parent, info, maxRestarts } = options;
	return {
		...defaults(info),
		...inherited(parent),
		...pythonPath(options),
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
		...(options.hook === undefined ? {} : { ELASTIC_RUN_HOOK: options.hook }),
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
	parent,
	pythonPath: library,
	pythonHook: hook,
}: WorkerEnvironmentOptions): Record<string, string> {
	const own = parent.PYTHONPATH ? parent.PYTHONPATH.split(delimiter) : [];
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
