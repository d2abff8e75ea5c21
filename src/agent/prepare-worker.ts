import type { ChannelRoot } from "../channel/channel-root.js";
import type { WorkerInfo } from "../channel/events.js";
import type { Clock } from "../clock.js";
import type { RoundRecord } from "../rendezvous/records.js";
import type {
	AgentConfig,
	StreamSelection,
} from "./configuration/agent-config.js";
import type { WorkerConsole } from "./logs/console.js";
import type { LogDirectory, WorkerLogs } from "./logs/log-directory.js";
import { readErrorFile } from "./report/error-file.js";
import { workerEnvironment } from "./worker-environment.js";
import type { PreparedWorker } from "./worker-group.js";

export interface PrepareWorkerOptions {
	readonly config: AgentConfig;
	readonly clock: Clock;
	readonly channels: ChannelRoot;
	readonly logs: LogDirectory;
	readonly console: WorkerConsole;
}

const NEITHER: StreamSelection = { stdout: false, stderr: false };

/**
 * Makes what one worker needs before it is spawned: its channel with the first
 * event in it, its log files, its environment. What was made is undone where a
 * later step fails.
 */
export function prepareWorker(
	info: WorkerInfo,
	round: RoundRecord,
	options: PrepareWorkerOptions,
): PreparedWorker {
	const { config, clock, channels, logs } = options;
	const { instance } = round;
	const channel = channels.createWorker(info.localRank);
	try {
		channel.send(
			{
				kind: "WORK",
				workerState: "HEALTHY",
				changeEvent: null,
				instance,
				round: info.round,
				reason: round.cause.reason,
				workerInfo: info,
			},
			clock.wallTime(),
		);
		const files = logs.openWorker(
			info.round,
			info.localRank,
			config.redirects[info.localRank] ?? NEITHER,
		);
		follow(files, info, options);
		return {
			spec: {
				localRank: info.localRank,
				...config.command,
				env: workerEnvironment({
					parent: config.environment,
					info,
					nodeId: config.nodeId,
					instance,
					channel: channel.directory,
					errorFile: files.errorFile,
					maxRestarts: config.maxRestarts,
				}),
				stdout: files.stdout?.fd ?? "inherit",
				stderr: files.stderr?.fd ?? "inherit",
			},
			release: () => files.closeDescriptors(),
			readError: () => readErrorFile(files.errorFile),
			discard: () => channel.remove(),
		};
	} catch (error) {
		channel.remove();
		throw error;
	}
}
