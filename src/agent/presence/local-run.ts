import { join } from "node:path";
import type { Cleanups } from "../../base/cleanups.js";
import type { Clock } from "../../base/clock.js";
import { messageOf } from "../../base/errors.js";
import type { Logger } from "../../base/logger.js";
import { type ChannelRoot, replaceFile } from "../../channel/index.js";
import type { AgentConfig } from "../../config/index.js";
import {
	encodeMirror,
	leaveSignalOf,
	MIRROR_FILE,
	onNoticeRequest,
	onStopRequest,
	onWhyRequest,
	whenTakenBack,
	writeNodeFile,
} from "../../node-files/index.js";
import { encodeRecord, RunKeys, stopRun } from "../../rendezvous/index.js";
import type { Snapshot, Store, Watch } from "../../store/index.js";
import type { NoticeInput } from "../machine/inputs.js";
import type { NodeResources } from "../workers/node-resources.js";
import { KilledRecord } from "./ended-run.js";

/** An agent's place in its run. */
export interface PublishLocallyOptions
	extends Omit<MirrorOptions, "runId" | "directory" | "onState"> {
	readonly temporaryDirectory: string;
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
	const { config, instance, signals, log, clock, cleanups, notice } = options;
	const { runId, nodeId, shutdownTimeoutMs, backend } = config;
	const hasGrace = config.notices.terminationGraceMs !== undefined;
	const leaveSignal = leaveSignalOf(signals, hasGrace);
	const write = (directory: string) => {
		try {
			writeNodeFile(directory, {
				runId,
				nodeId,
				instance,
				logDirectory: logs.directory,
				leaveSignal,
				shutdownTimeoutMs,
			});
		} catch (error) {
			log.warn(`commands do not find this agent: ${messageOf(error)}`);
		}
	};
	write(channels.directory);
	channels.onMadeAgain(write);
	// Each process of the user's on this machine may make a notice, as it may send a signal.
	const endNotices = watchAgain(channels, (directory) =>
		onNoticeRequest(
			directory,
			(given) => notice({ kind: "noticed", notice: given }),
			clock,
		),
	);
	cleanups.add("closing the watch for notices", endNotices);
	if (backend === "memory") await publishRun(options, channels, logs.directory);
}

/** Watches the agent's directory, and again where it is made again. Returns what ends that. */
function watchAgain(
	channels: ChannelRoot,
	watch: (directory: string) => () => void,
): () => void {
	let end = watch(channels.directory);
	channels.onMadeAgain((directory) => {
		end();
		end = watch(directory);
	});
	return () => end();
}

/** Shows commands the run's state, and takes what they ask of it. */
async function publishRun(
	options: PublishLocallyOptions,
	channels: ChannelRoot,
	logDirectory: string,
): Promise<void> {
	const { config, clock, cleanups } = options;
	const record = new KilledRecord(options, logDirectory);
	const mirror = new RunMirror({
		...options,
		runId: config.runId,
		directory: () => channels.directory,
		onState: (snapshot) => record.follow(snapshot),
	});
	cleanups.add("closing the run's mirror", () => {
		mirror.close();
		record.remove();
	});
	let stopping: Promise<void> | undefined;
	const stop = (reason: string) => {
		stopping = stopOwnRun(options, mirror, reason);
	};
	const endStops = watchAgain(channels, (directory) =>
		onStopRequest(directory, stop, clock),
	);
	const endQuestions = watchAgain(channels, (directory) =>
		onWhyRequest(directory, (id) => void writeQuestion(options, id), clock),
	);
	channels.onMadeAgain(() => void mirror.writeNow());
	cleanups.add("closing the watch for a stop", () => {
		endStops();
		endQuestions();
	});
	// The next cleanup removes the directory with the answer.
	cleanups.add("waiting for who stopped the run", async () => {
		if (stopping === undefined) return;
		await stopping;
		await whenTakenBack(channels.directory, clock);
	});
	await mirror.writeNow();
}

/** The store is in this process, so it can be reached. */
async function stopOwnRun(
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
async function writeQuestion(
	{ store, clock, config }: PublishLocallyOptions,
	id: string,
): Promise<void> {
	const value = encodeRecord({ version: 1, at: Math.round(clock.wallTime()) });
	const put = new RunKeys(config.runId).question(id);
	await store.transaction([], [{ put, value }]).catch(() => {});
}

/** Changes so close together are written once, and never while workers are being started. */
const WRITE_AFTER_MS = 100;

export interface MirrorOptions {
	readonly store: Store;
	readonly clock: Clock;
	readonly log: Logger;
	readonly runId: string;
	/** The agent's directory, which is removed with all its content when the agent ends. */
	readonly directory: () => string;
	/** Gets what is written. */
	readonly onState: (snapshot: Snapshot) => void;
}

/** Mirrors a store that no other process can reach into a file with the same keys as in etcd, so that commands find the run. */
export class RunMirror {
	private readonly prefix: string;
	private readonly watch: Watch;
	private cancelTimer: (() => void) | undefined;
	private closed = false;
	private hasFailed = false;

	constructor(private readonly options: MirrorOptions) {
		this.prefix = new RunKeys(options.runId).prefix;
		this.watch = options.store.watch([this.prefix], 0, () => this.writeLater());
	}

	close(): void {
		this.closed = true;
		this.watch.close();
		this.cancelTimer?.();
	}

	private writeLater(): void {
		const { clock } = this.options;
		this.cancelTimer ??= clock.wakeAt(clock.now() + WRITE_AFTER_MS, () => {
			this.cancelTimer = undefined;
			void this.writeNow();
		});
	}

	/** The run continues even if this fails. */
	async writeNow(): Promise<void> {
		const { store, runId, log } = this.options;
		const directory = this.options.directory();
		try {
			const snapshot = await store.snapshot([this.prefix]);
			if (this.closed) return;
			this.options.onState(snapshot);
			const text = encodeMirror(runId, snapshot);
			replaceFile(join(directory, MIRROR_FILE), text, directory);
			this.hasFailed = false;
		} catch (error) {
			if (!this.hasFailed && !this.closed) {
				log.warn(`commands do not see this run's state: ${messageOf(error)}`);
			}
			this.hasFailed = true;
		}
	}
}
