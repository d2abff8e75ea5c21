import type { AgentConfig } from "../../config/agent-config.js";
import type { WorkerSpec } from "../../processes/index.js";
import { type WorkerOwner, workerEnvironment } from "./worker-environment.js";

export function commandOf(
	{ command, stdinRank }: AgentConfig,
	localRank: number,
) {
	const { file, args, cwd } = command;
	return { localRank, file, args, cwd, readsStdin: localRank === stdinRank };
}

/** A worker of this node before its place is known: what depends on the place is empty. */
export function workerWithoutPlace(owner: WorkerOwner): WorkerSpec {
	const { config } = owner;
	const { nprocPerNode: localWorldSize, runId, role } = config;
	const figures = { localRank: 0, roleRank: 0, rank: 0, groupRank: 0 };
	const sizes = { roleWorldSize: 0, worldSize: 0, groupWorldSize: 0 };
	const info = {
		...{ ...figures, ...sizes, localWorldSize, role, runId },
		...{ masterAddr: "", masterPort: 0, round: 0, restartCount: 0 },
	};
	const files = { hook: undefined, channel: "", errorFile: "" };
	return {
		...commandOf(config, 0),
		env: workerEnvironment(owner, { info, instance: 0, ...files }),
		...{ stdout: 1, stderr: 2 },
	};
}
