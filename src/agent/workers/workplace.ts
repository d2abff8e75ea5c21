import type { Clock } from "../../base/clock.js";
import type {
	ChannelRoot,
	OutgoingEvent,
	OutgoingNotice,
	WorkerChannel,
	WorkerInfo,
} from "../../channel/index.js";
import type { WorkerSpec } from "../../processes/index.js";
import type { RoundRecord } from "../../rendezvous/index.js";
import type { Replies } from "./node-resources.js";
import {
	commandOf,
	type WorkerOwner,
	workerEnvironment,
} from "./worker-environment.js";
import { WorkerOutput, type WorkerOutputOptions } from "./worker-output.js";

/** The agent's end of a worker's channel. */
export interface ChannelEnd {
	/** Its path; no two processes have the same. */
	readonly directory: string;
	/** Throws if the disk refuses it. */
	send(event: OutgoingEvent, timestamp: number): unknown;
	/** The same for a notice. */
	notify(
		notice: OutgoingNotice,
		timestamp: number,
	): { readonly sequence: number };
	/** Wakes the worker to read its events. */
	ring(): void;
}

/** What is made for a worker before its spawn. */
export interface WorkerFiles {
	readonly spec: WorkerSpec;
	readonly channel: ChannelEnd;
	/** Undefined if it has none, as in the simulator. */
	readonly output: WorkerOutput | undefined;
}

/** Makes workers' channels and log files, and removes the channels. */
export interface Workplace {
	/** The channel has the first event already. Throws if the disk refuses, and then leaves no channel behind. */
	prepare(info: WorkerInfo, round: RoundRecord): WorkerFiles;
	/** Listens to the channels that were made. */
	listen(): void;
	/** Delivers what a worker has replied by now. */
	readReplies(channel: ChannelEnd): void;
	/** The same for all workers that are not gone. */
	readAllReplies(): void;
	/** None of the worker's processes is left, and what they have replied is read. */
	discard(channel: ChannelEnd): void;
}

export interface NodeWorkplaceOptions extends WorkerOwner, WorkerOutputOptions {
	readonly config: WorkerOwner["config"];
	readonly clock: Clock;
	readonly channels: ChannelRoot;
	readonly replies: Pick<Replies, "listen" | "readNow">;
}

/**
 * When a worker's successor gets its channel and log directories, in milliseconds after the worker's start: once the
 * round runs, one rank after another.
 */
const AHEAD_AFTER_MS = 100;
const AHEAD_PER_RANK_MS = 4;

interface MadeChannel {
	readonly channel: WorkerChannel;
	/** The worker's successor gets nothing ahead. */
	readonly cancelNext: () => void;
}

/** The channels and log files of this node's workers. */
export class NodeWorkplace implements Workplace {
	/** By directory. */
	private readonly made = new Map<string, MadeChannel>();
	/** Their workers are gone. */
	private readonly discarded: WorkerChannel[] = [];

	constructor(private readonly options: NodeWorkplaceOptions) {}

	prepare(info: WorkerInfo, round: RoundRecord): WorkerFiles {
		const { channels, clock } = this.options;
		const channel = channels.createWorker(info.localRank);
		try {
			channel.send(
				{
					kind: "WORK",
					workerState: "HEALTHY",
					changeEvent: null,
					instance: round.instance,
					round: info.round,
					reason: round.cause.reason,
					workerInfo: info,
				},
				clock.wallTime(),
			);
			const output = new WorkerOutput(info, this.options);
			const cancelNext = this.prepareNext(info, output);
			this.made.set(channel.directory, { channel, cancelNext });
			const spec = this.specOf(info, round.instance, channel, output);
			return { channel, output, spec };
		} catch (error) {
			channel.remove();
			throw error;
		}
	}

	listen(): void {
		const { channels, replies } = this.options;
		channels.installDoorbells();
		replies.listen();
	}

	readReplies({ directory }: Pick<ChannelEnd, "directory">): void {
		this.options.replies.readNow(directory);
	}

	readAllReplies(): void {
		for (const { channel } of this.made.values()) this.readReplies(channel);
	}

	discard({ directory }: ChannelEnd): void {
		const made = this.made.get(directory);
		if (made === undefined) return;
		this.made.delete(directory);
		made.cancelNext();
		this.discarded.push(made.channel);
	}

	/** Removes the channels of workers that are gone. The next round's workers run meanwhile, so that no restart waits for it. */
	removeDiscarded(): void {
		for (const channel of this.discarded.splice(0)) void channel.removeAside();
	}

	private specOf(
		info: WorkerInfo,
		instance: number,
		channel: WorkerChannel,
		output: WorkerOutput,
	): WorkerSpec {
		const { config } = this.options;
		const { localRank } = info;
		return {
			...commandOf(config, localRank),
			env: workerEnvironment(this.options, {
				hook: config.hasHook ? channel.makeHook() : undefined,
				info,
				instance,
				channel: channel.directory,
				errorFile: output.logs.errorFile,
			}),
			stdout: output.stdout,
			stderr: output.stderr,
			openNext: () => output.openNext(localRank),
		};
	}

	/** Returns what cancels it. */
	private prepareNext(
		{ localRank }: WorkerInfo,
		output: WorkerOutput,
	): () => void {
		const { clock, channels, config } = this.options;
		const at = clock.now() + AHEAD_AFTER_MS + AHEAD_PER_RANK_MS * localRank;
		return clock.wakeAt(at, () => {
			channels.createAhead(localRank, config.hasHook);
			output.createNext(localRank);
		});
	}
}
