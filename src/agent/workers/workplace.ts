import type { Clock } from "../../base/clock.js";
import type { ChannelRoot } from "../../channel/channel-root.js";
import type { WorkerInfo } from "../../channel/events.js";
import type { WorkerChannel } from "../../channel/worker-channel.js";
import type { RoundRecord } from "../../rendezvous/records/records.js";
import type { Replies } from "./node-resources.js";
import type { ChannelEnd, WorkerFiles, Workplace } from "./worker.js";
import {
	commandOf,
	type WorkerOwner,
	workerEnvironment,
} from "./worker-environment.js";
import { WorkerOutput, type WorkerOutputOptions } from "./worker-output.js";

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
const AHEAD_PER_RANK_MS = 10;

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
		this.readReplies({ directory });
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
	): WorkerFiles["spec"] {
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
		const { clock, channels } = this.options;
		const at = clock.now() + AHEAD_AFTER_MS + AHEAD_PER_RANK_MS * localRank;
		return clock.wakeAt(at, () => {
			channels.createAhead(localRank);
			output.createNext(localRank);
		});
	}
}
