import { rmdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { systemErrorCode } from "../base/errors.js";
import {
	type ChannelRootOptions,
	hasOwner,
	openDirectory,
	openElsewhere,
	writeOwner,
} from "./channel-directory.js";
import { channelError, channelFailure } from "./channel-error.js";
import { installDoorbells } from "./doorbell.js";
import { workerDirectoryName } from "./layout.js";
import { networkFileSystemOf } from "./network-file-system.js";
import { ownIdentity } from "./process-identity.js";
import { removeDirectory } from "./remove-directory.js";
import { openToOwner } from "./remove-tree.js";
import { WorkerChannel } from "./worker-channel.js";

/**
 * Makes `<base>/elastic-run-<uid>/<runId>.<agentId>/`, which only this user can enter, and removes what dead agents left
 * beside it. If a live agent holds that name, it appends the next free number. Throws CHANNEL, saying which directory
 * cannot be used and why.
 */
export function openChannelRoot(options: ChannelRootOptions): ChannelRoot {
	const directory = openDirectory(options);
	const network = networkFileSystemOf(directory);
	return new ChannelRoot(directory, network, () => openElsewhere(options));
}

const GONE = new Set(["ENOENT", "ENOTDIR"]);

/** One agent's directory, with the channels of its workers. */
export class ChannelRoot {
	private currentDirectory: string;
	private readonly openAgain: () => string;
	private readonly listeners: ((directory: string) => void)[] = [];
	/** What the user should know about the directory. */
	readonly warnings: readonly string[];
	/** Channels without a doorbell yet: only file notifications bring their workers news. */
	private readonly silent: WorkerChannel[] = [];
	private readonly isLocal: boolean;
	private readonly opened = new Set<WorkerChannel>();
	/** Channels made ahead, by local rank, that no worker has yet. */
	private readonly ahead = new Map<number, WorkerChannel>();
	private created = 0;
	private isRemoved = false;

	/** @param openAgain makes a directory in place of a vanished one, or throws CHANNEL */
	constructor(
		directory: string,
		networkFileSystem: string | undefined,
		openAgain: () => string,
	) {
		this.currentDirectory = directory;
		this.openAgain = openAgain;
		this.isLocal = networkFileSystem === undefined;
		this.warnings =
			networkFileSystem === undefined
				? []
				: [
						`The channel directory ${directory} is on a network file system (${networkFileSystem}): changes are found by polling, which is slower. Set ELASTIC_RUN_DIR to a directory on a local disk.`,
					];
	}

	get directory(): string {
		return this.currentDirectory;
	}

	/** Calls back each time the directory was made again, perhaps elsewhere. It is empty then. */
	onMadeAgain(listener: (directory: string) => void): void {
		this.listeners.push(listener);
	}

	/** Makes a fresh channel for one process. Throws CHANNEL if it cannot. */
	createWorker(localRank: number): WorkerChannel {
		if (this.isRemoved) {
			throw channelError(this.currentDirectory, "the agent has removed it");
		}
		this.makeAgain();
		const ahead = this.ahead.get(localRank);
		this.ahead.delete(localRank);
		const channel = ahead?.isWhole ? ahead : this.make(localRank);
		this.opened.add(channel);
		this.silent.push(channel);
		return channel;
	}

	/** Makes the next channel of this rank early, unless it exists: the worker then starts faster. */
	createAhead(localRank: number): void {
		if (this.isRemoved || this.ahead.has(localRank)) return;
		let channel: WorkerChannel | undefined;
		try {
			channel = this.make(localRank);
			channel.prepareFirstEvent();
			this.ahead.set(localRank, channel);
		} catch {
			// If the problem lasts, the next `createWorker` reports it.
			channel?.remove();
		}
	}

	/** Somebody may remove the directory during a run, or a worker may lock it. */
	private makeAgain(): void {
		try {
			openToOwner(this.currentDirectory);
			if (!hasOwner(this.currentDirectory)) {
				writeOwner(this.currentDirectory, ownIdentity());
				for (const tell of this.listeners) tell(this.currentDirectory);
			}
		} catch (error) {
			if (!GONE.has(systemErrorCode(error) ?? "")) {
				throw channelFailure(this.currentDirectory, error);
			}
			this.ahead.clear();
			this.currentDirectory = this.openAgain();
			for (const tell of this.listeners) tell(this.currentDirectory);
		}
	}

	private make(localRank: number): WorkerChannel {
		this.created += 1;
		const name = workerDirectoryName(localRank, this.created);
		const channel: WorkerChannel = new WorkerChannel(
			localRank,
			join(this.directory, name),
			() => this.opened.delete(channel),
		);
		return channel;
	}

	/** Makes doorbells for the channels handed out since the last call. On a network file system workers poll instead. */
	installDoorbells(): void {
		const paths = this.silent.splice(0).map(({ doorbell }) => doorbell);
		if (this.isLocal) installDoorbells(paths);
	}

	/** The channels that processes have and that still exist. */
	channels(): readonly WorkerChannel[] {
		return [...this.opened];
	}

	/** Removes the directory with all channels, and its parent if no other agent has anything there. */
	remove(): void {
		this.isRemoved = true;
		for (const channel of this.opened) channel.removeSocketElsewhere();
		this.opened.clear();
		try {
			removeDirectory(this.directory);
			rmdirSync(dirname(this.directory));
		} catch (error) {
			// It is gone already, or the parent holds something of others.
			const code = systemErrorCode(error);
			if (code !== "ENOENT" && code !== "ENOTEMPTY") throw error;
		}
	}
}
