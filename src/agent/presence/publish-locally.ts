import type { Cleanups } from "../../base/cleanups.js";
import { messageOf } from "../../base/errors.js";
import type { AgentConfig } from "../../config/agent-config.js";
import { leaveSignalOf, writeNodeFile } from "../../node-files/node-file.js";
import {
	onNoticeRequest,
	onStopRequest,
	onWhyRequest,
	whenTakenBack,
} from "../../node-files/requests.js";
import { stopRun } from "../../rendezvous/member/write-stop.js";
import { RunKeys } from "../../rendezvous/records/keys.js";
import { encodeRecord } from "../../rendezvous/records/record-codec.js";
import type { NoticeInput } from "../machine/inputs.js";
import type { NodeResources } from "../workers/node-resources.js";
import { type MirrorOptions, RunMirror } from "./mirror-run.js";

/** An agent's place in its run. */
export interface PublishLocallyOptions
	extends Omit<MirrorOptions, "runId" | "directory"> {
	readonly config: AgentConfig;
	readonly instance: number;
	/** Signals to this process that make its node leave. */
	readonly signals: readonly NodeJS.Signals[];
	readonly cleanups: Cleanups;
	/** Takes a notice that a command of this machine makes. */
	readonly notice: (input: NoticeInput) => void;
}

/**
 * Lets commands on this machine find an agent and, if its run's state is in this process's memory, the run. Once it
 * resolves, they do.
 */
export async function publishLocally(
	options: PublishLocallyOptions,
	{ channels, logs }: Pick<NodeResources, "channels" | "logs">,
): Promise<void> {
	const { config, instance, signals, log } = options;
	const { runId, nodeId, shutdownTimeoutMs, backend } = config;
	const isNotice = config.notices.terminationGraceMs !== undefined;
	const leaveSignal = leaveSignalOf(signals, isNotice);
	const logDirectory = logs.directory;
	const tell = (directory: string) => {
		try {
			writeNodeFile(directory, {
				...{ runId, nodeId, instance, logDirectory },
				...{ leaveSignal, shutdownTimeoutMs },
			});
		} catch (error) {
			log.warn(`commands do not find this agent: ${messageOf(error)}`);
		}
	};
	tell(channels.directory);
	channels.onMadeAgain(tell);
	hearNotices(options, channels);
	if (backend === "memory") await publishRun(options, channels);
}

/** Shows commands the run's state, and takes what they ask of it. */
async function publishRun(
	options: PublishLocallyOptions,
	channels: NodeResources["channels"],
): Promise<void> {
	const { config, clock, cleanups } = options;
	const mirror = new RunMirror({
		...options,
		runId: config.runId,
		directory: () => channels.directory,
	});
	cleanups.add("closing the run's mirror", () => mirror.close());
	let stopping: Promise<void> | undefined;
	const watch = (directory: string) => {
		const ends = [
			onStopRequest(
				directory,
				(reason) => {
					stopping = stop(options, mirror, reason);
				},
				clock,
			),
			onWhyRequest(directory, (id) => void ask(options, id), clock),
		];
		return () => {
			for (const end of ends) end();
		};
	};
	let endWatch = watch(channels.directory);
	channels.onMadeAgain((directory) => {
		endWatch();
		endWatch = watch(directory);
		void mirror.writeNow();
	});
	cleanups.add("closing the watch for a stop", () => endWatch());
	// The next cleanup removes the directory with the answer.
	cleanups.add("waiting for who stopped the run", async () => {
		if (stopping === undefined) return;
		await stopping;
		await whenTakenBack(channels.directory, clock);
	});
	await mirror.writeNow();
}

/** Each process of the user's on this machine may make a notice, as it may send a signal. */
function hearNotices(
	{ clock, cleanups, notice: take }: PublishLocallyOptions,
	channels: NodeResources["channels"],
): void {
	const watch = (directory: string) =>
		onNoticeRequest(
			directory,
			(notice) => take({ kind: "noticed", notice }),
			clock,
		);
	let end = watch(channels.directory);
	channels.onMadeAgain((directory) => {
		end();
		end = watch(directory);
	});
	cleanups.add("closing the watch for notices", () => end());
}

/** The store is in this process, so it can be reached. */
async function stop(
	{ store, clock, log, config }: PublishLocallyOptions,
	mirror: RunMirror,
	reason: string,
): Promise<void> {
	try {
		await stopRun({ store, clock, keys: new RunKeys(config.runId), reason });
		// This process will soon be gone, and its directory with it.
		await mirror.writeNow();
	} catch (error) {
		log.warn(`the run could not be stopped: ${messageOf(error)}`);
	}
}

/** The question of a command that cannot reach the store. */
async function ask(
	{ store, clock, config }: PublishLocallyOptions,
	id: string,
): Promise<void> {
	const value = encodeRecord({ version: 1, at: Math.round(clock.wallTime()) });
	const put = new RunKeys(config.runId).question(id);
	await store.transaction([], [{ put, value }]).catch(() => {});
}
