import { messageOf } from "../../errors.js";
import { RunKeys } from "../../rendezvous/keys.js";
import { stopRun } from "../../rendezvous/stop-run.js";
import type { Cleanups } from "../cleanups.js";
import type { AgentConfig } from "../configuration/agent-config.js";
import type { NodeResources } from "../node-resources.js";
import { type MirrorOptions, RunMirror } from "./mirror-run.js";
import { leaveSignalOf, writeNodeFile } from "./node-file.js";
import { onStopRequest, whenTakenBack } from "./stop-request.js";

/** An agent's place in its run. */
export interface OpenToCommandsOptions
	extends Omit<MirrorOptions, "runId" | "directory"> {
	readonly config: AgentConfig;
	readonly instance: number;
	/** Signals to this process that make its node leave. */
	readonly signals: readonly NodeJS.Signals[];
	readonly cleanups: Cleanups;
}

/**
 * Lets the commands of this machine find an agent and, where its run's state
 * is in this process's memory, the run.
 */
export function openToCommands(
	options: OpenToCommandsOptions,
	{ channels, logs }: Pick<NodeResources, "channels" | "logs">,
): void {
	const { config, instance, signals, log, cleanups } = options;
	const { runId, nodeId, shutdownTimeoutMs, backend } = config;
	const { directory } = channels;
	const leaveSignal = leaveSignalOf(signals);
	const logDirectory = logs.directory;
	try {
		writeNodeFile(directory, {
			...{ runId, nodeId, instance, logDirectory },
			...{ leaveSignal, shutdownTimeoutMs },
		});
	} catch (error) {
		log.warn(`commands do not find this agent: ${messageOf(error)}`);
	}
	if (backend !== "memory") return;
	const mirror = new RunMirror({ ...options, runId, directory });
	cleanups.add("closing the run's mirror", () => mirror.close());
	let stopping: Promise<void> | undefined;
	const endWatch = onStopRequest(
		directory,
		(reason) => {
			stopping = stop(options, mirror, reason);
		},
		options.clock,
	);
	cleanups.add("closing the watch for a stop", endWatch);
	// The directory with the answer in it is removed next.
	cleanups.add("waiting for who stopped the run", async () => {
		if (stopping === undefined) return;
		await stopping;
		await whenTakenBack(directory, options.clock);
	});
}

/** The store is in this process: it can be reached. */
async function stop(
	{ store, clock, log, config }: OpenToCommandsOptions,
	mirror: RunMirror,
	reason: string,
): Promise<void> {
	try {
		await stopRun({ store, clock, keys: new RunKeys(config.runId), reason });
		// Soon this process is gone, and its directory with it.
		await mirror.writeNow();
	} catch (error) {
		log.warn(`the run could not be stopped: ${messageOf(error)}`);
	}
}
