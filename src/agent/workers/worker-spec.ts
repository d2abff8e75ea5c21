import type { AgentConfig } from "../../config/agent-config.js";
import type { WorkerSpec } from "../../supervision/worker.js";
import {
	type WorkerEnvironmentOptions,
	workerEnvironment,
} from "./worker-environment.js";

/** Whose workers they are. */
export interface WorkerOwner {
	readonly config: AgentConfig;
	/** The incarnation of the agent's process. */
	readonly incarnation: string;
}

type Place = Pick<
	WorkerEnvironmentOptions,
	"hook" | "info" | "instance" | "channel" | "errorFile"
>;

export function commandOf(
	{ command, stdinRank }: AgentConfig,
	localRank: number,
) {
	const { file, args, cwd } = command;
	return { localRank, file, args, cwd, readsStdin: localRank === stdinRank };
}

export function environmentOf(
	{ config, incarnation }: WorkerOwner,
	place: Place,
): Record<string, string> {
	const { environment: parent, pythonPath, pythonHook } = config;
	const { nodeId, maxRestarts } = config;
	return workerEnvironment({
		...{ parent, pythonPath, pythonHook, nodeId, incarnation, maxRestarts },
		...place,
	});
}

/** A worker of this node before its place is known: what depends on the place is empty. */
export function workerWithoutPlace(options: WorkerOwner): WorkerSpec {
	const { config } = options;
	const { nprocPerNode: localWorldSize, runId, role } = config;
	const figures = { localRank: 0, roleRank: 0, rank: 0, groupRank: 0 };
	const sizes = { roleWorldSize: 0, worldSize: 0, groupWorldSize: 0 };
	const info = {
		...{ ...figures, ...sizes, localWorldSize, role, runId },
		...{ masterAddr: "", masterPort: 0, round: 0, restartCount: 0 },
	};
	const place = { hook: undefined, info, instance: 0 };
	return {
		...commandOf(config, 0),
		env: environmentOf(options, { ...place, channel: "", errorFile: "" }),
		...{ stdout: 1, stderr: 2 },
	};
}
