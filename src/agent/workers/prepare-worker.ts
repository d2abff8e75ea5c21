import type { Clock } from "../../base/clock.js";
import type { ChannelRoot } from "../../channel/channel-root.js";
import type { WorkerInfo } from "../../channel/events.js";
import { channelPaths, hookPaths } from "../../channel/layout.js";
import type {
	OutgoingEvent,
	WorkerChannel,
} from "../../channel/worker-channel.js";
import { readException } from "../../failures/exception.js";
import type { WorkerConsole } from "../../logs/console-tail.js";
import { lastLines } from "../../logs/last-lines.js";
import type { LogDirectory } from "../../logs/log-directory.js";
import { renderPrefix } from "../../logs/prefix.js";
import type { LogStream, WorkerLogs } from "../../logs/worker-logs.js";
import {
	planStreams,
	redirectedIn,
	type StreamPlan,
	type WorkerStreams,
} from "../../logs/worker-streams.js";
import type { RoundRecord } from "../../rendezvous/records/records.js";
import { readErrorFile } from "../../status/error-file.js";
import { openNextStreams } from "./next-streams.js";
import type { Replies } from "./node-resources.js";
import type { PreparedWorker } from "./prepared-worker.js";
import { type WorkerOwner, workerEnvironment } from "./worker-environment.js";
import { commandOf } from "./worker-spec.js";

export interface PrepareWorkerOptions extends WorkerOwner {
	readonly clock: Clock;
	readonly channels: ChannelRoot;
	readonly logs: LogDirectory;
	readonly console: WorkerConsole;
	/** Whether prefixes of lines on each stream are coloured. */
	readonly colours: Readonly<Record<"stdout" | "stderr", boolean>>;
	readonly replies: Pick<Replies, "readNow">;
	/** Takes the channel of a worker that is gone, and removes it later. */
	readonly discardChannel: (channel: WorkerChannel) => unknown;
}

/**
 * When a worker's successor gets its channel and log directories, in milliseconds after the worker's start: once the
 * round runs, one rank after another.
 */
const AHEAD_AFTER_MS = 100;
const AHEAD_PER_RANK_MS = 10;
/** A longer stack at the end of a worker's stderr is cut. */
const MOST_STACK_LINES = 200;

/**
 * Makes what one worker needs before its spawn: its channel with the first event, its log files, its environment. Throws
 * if the disk refuses, and then leaves no channel behind.
 */
export function prepareWorker(
	info: WorkerInfo,
	round: RoundRecord,
	options: PrepareWorkerOptions,
): PreparedWorker {
	const { config, clock, channels } = options;
	const { localRank } = info;
	const channel = channels.createWorker(localRank);
	try {
		channel.send(firstEvent(info, round), clock.wallTime());
		const plan = planStreams(config, localRank);
		const streams = openStreams(info, plan, options);
		const cancelAhead = prepareSuccessor(localRank, plan, options);
		return {
			spec: {
				...commandOf(config, localRank),
				env: workerEnvironment(options, {
					hook: config.hasHook ? channel.makeHook() : undefined,
					info,
					instance: round.instance,
					channel: channel.directory,
					errorFile: streams.logs.errorFile,
				}),
				stdout: streams.stdout,
				stderr: streams.stderr,
				openNext: () => openNextStreams(localRank, plan, options.logs),
			},
			directory: channel.directory,
			tell: (event) => void channel.send(event, clock.wallTime()),
			notify: (notice) => channel.notify(notice, clock.wallTime()).sequence,
			ring: () => channel.ring(),
			moved: streams.rename,
			release: streams.release,
			hear: () => options.replies.readNow(channel.directory),
			logs: streams.logs,
			readError: () => readErrorFile(streams.logs.errorFile),
			readException: () =>
				readException(hookPaths(channelPaths(channel.directory).hook)),
			readLastLines: () => lastWords(streams.logs.stderr),
			discard: () => {
				cancelAhead();
				streams.finish();
				options.replies.readNow(channel.directory);
				options.discardChannel(channel);
			},
		};
	} catch (error) {
		channel.remove();
		throw error;
	}
}

function lastWords(
	stderr: PreparedWorker["logs"]["stderr"],
): readonly string[] {
	if (stderr === undefined) return [];
	const { file, startBytes } = stderr;
	return lastLines(file, { from: startBytes, count: MOST_STACK_LINES });
}

/** Returns what cancels it. */
function prepareSuccessor(
	localRank: number,
	plan: WorkerStreams,
	{ clock, channels, logs }: PrepareWorkerOptions,
): () => void {
	const at = clock.now() + AHEAD_AFTER_MS + AHEAD_PER_RANK_MS * localRank;
	return clock.wakeAt(at, () => {
		channels.createAhead(localRank);
		logs.createAhead(localRank, redirectedIn(plan));
	});
}

function firstEvent(info: WorkerInfo, round: RoundRecord): OutgoingEvent {
	return {
		kind: "WORK",
		workerState: "HEALTHY",
		changeEvent: null,
		instance: round.instance,
		round: info.round,
		reason: round.cause.reason,
		workerInfo: info,
	};
}

interface OpenedStreams {
	readonly logs: WorkerLogs;
	readonly stdout: number;
	readonly stderr: number;
	readonly release: () => void;
	/** The worker has another place: its further lines get the new prefix. */
	readonly rename: (info: WorkerInfo) => void;
	/** Shows the rest of the files, and closes them. */
	readonly finish: () => void;
}

function openStreams(
	info: WorkerInfo,
	plan: WorkerStreams,
	{ config, logs, console, colours }: PrepareWorkerOptions,
): OpenedStreams {
	const { round, localRank } = info;
	const files = logs.openWorker(round, localRank, redirectedIn(plan));
	const prefixFor = (place: WorkerInfo, target: "stdout" | "stderr") =>
		renderPrefix(
			config.logPrefix,
			{ node: config.nodeId, ...place },
			colours[target],
		);
	const follow = (stream: StreamPlan, file: LogStream | undefined) => {
		if (stream.kind === "inherit" || !stream.shownOn || !file) return [];
		const target = stream.shownOn;
		const followed = console.follow({
			path: file.path,
			file: file.file,
			from: file.startBytes,
			target,
			prefix: prefixFor(info, target),
		});
		const rename = (place: WorkerInfo) =>
			followed.rename(prefixFor(place, target));
		return [{ finish: followed.finish, rename }];
	};
	const shown = [
		...follow(plan.stdout, files.stdout),
		...follow(plan.stderr, files.stderr),
	];
	return {
		stdout: descriptorOf(plan.stdout, files.stdout),
		stderr: descriptorOf(plan.stderr, files.stderr),
		release: () => files.closeDescriptors(),
		rename: (place) => {
			for (const { rename } of shown) rename(place);
		},
		finish: () => {
			const shownAll = Promise.all(shown.map(({ finish }) => finish()));
			void shownAll.then(() => files.letGo());
		},
		logs: files,
	};
}

function descriptorOf(plan: StreamPlan, file: LogStream | undefined): number {
	if (plan.kind === "inherit") return plan.descriptor;
	if (file === undefined) throw new Error("a redirected stream has no file");
	return file.fd;
}
