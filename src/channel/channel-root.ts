import { mkdtempSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { ElasticRunError, systemErrorCode } from "../errors.js";
import { channelFailure } from "./channel-error.js";
import { installDoorbells } from "./doorbell.js";
import { workerDirectoryName } from "./layout.js";
import { replaceFile } from "./message-file.js";
import { networkFileSystemOf } from "./network-file-system.js";
import { takePrivateDirectory } from "./private-directory.js";
import {
	encodeIdentity,
	ownIdentity,
	type ProcessIdentity,
} from "./process-identity.js";
import { removeDirectory } from "./remove-directory.js";
import { OWNER_FILE, sweepDeadAgents } from "./sweep.js";
import { WorkerChannel } from "./worker-channel.js";

export interface ChannelRootOptions {
	/** The directory below which everything lies. It must be there. */
	readonly base: string;
	/** The user that this process runs as. */
	readonly uid: number;
	readonly runId: string;
	readonly agentId: string;
}

/** Leaves room below the 255 bytes that a file name may have. */
const LONGEST_NAME = 200;

/**
 * Makes `<base>/elastic-run-<uid>/<runId>.<agentId>/`, which only this user can
 * enter, and removes what dead agents left beside it. Where a live agent holds
 * that name, it takes the name with the next free number behind it. Throws
 * CHANNEL, saying which directory cannot be used and why.
 */
export function openChannelRoot(options: ChannelRootOptions): ChannelRoot {
	const parent = join(resolve(options.base), `elastic-run-${options.uid}`);
	for (let retries = 2; ; retries--) {
		try {
			return openBelow(parent, options);
		} catch (error) {
			if (error instanceof ElasticRunError) throw error;
			// An agent that ends takes the parent away where it was the last one in it.
			if (retries > 0 && systemErrorCode(error) === "ENOENT") continue;
			throw channelFailure(parent, error);
		}
	}
}

function openBelow(parent: string, options: ChannelRootOptions): ChannelRoot {
	takePrivateDirectory(parent, options.uid);
	const network = networkFileSystemOf(parent);
	const self = ownIdentity();
	sweepDeadAgents(parent, self, network === undefined);
	const name = `${options.runId}.${options.agentId}`.slice(0, LONGEST_NAME);
	return new ChannelRoot(makeDirectory(parent, name, self), network);
}

/** One agent's directory of channels, and the channels of its workers. */
export class ChannelRoot {
	readonly directory: string;
	/** What the user should know about the place, in words. */
	readonly warnings: readonly string[];
	/** Those whose workers are told of news by notifications of files alone. */
	readonly #silent: WorkerChannel[] = [];
	readonly #isLocal: boolean;
	readonly #channels = new Set<WorkerChannel>();
	/** By local rank, those that nobody has got yet. */
	readonly #ahead = new Map<number, WorkerChannel>();
	#created = 0;

	constructor(directory: string, networkFileSystem: string | undefined) {
		this.directory = directory;
		this.#isLocal = networkFileSystem === undefined;
		this.warnings =
			networkFileSystem === undefined
				? []
				: [
						`The channel directory ${directory} is on a network file system (${networkFileSystem}): changes are found by polling, which is slower. Set ELASTIC_RUN_DIR to a directory on a local disk.`,
					];
	}

	/** A fresh channel for one process. Throws CHANNEL where it cannot be made. */
	createWorker(localRank: number): WorkerChannel {
		const channel = this.#ahead.get(localRank) ?? this.#make(localRank);
		this.#ahead.delete(localRank);
		this.#channels.add(channel);
		this.#silent.push(channel);
		return channel;
	}

	/** Makes the channel that a worker of this rank gets next, where that is not done yet: its start is then quicker. */
	createAhead(localRank: number): void {
		if (this.#ahead.has(localRank)) return;
		let channel: WorkerChannel | undefined;
		try {
			channel = this.#make(localRank);
			channel.prepareFirstEvent();
			this.#ahead.set(localRank, channel);
		} catch {
			// Who wants one hears of that, if it still is so then.
			channel?.remove();
		}
	}

	#make(localRank: number): WorkerChannel {
		this.#created += 1;
		const name = workerDirectoryName(localRank, this.#created);
		const channel: WorkerChannel = new WorkerChannel(
			localRank,
			join(this.directory, name),
			() => this.#channels.delete(channel),
		);
		return channel;
	}

	/** For the channels that processes got since the last time; on a network file system workers poll. */
	installDoorbells(): void {
		const paths = this.#silent.splice(0).map(({ doorbell }) => doorbell);
		if (this.#isLocal) installDoorbells(paths);
	}

	/** The channels that processes got and that were not removed. */
	channels(): readonly WorkerChannel[] {
		return [...this.#channels];
	}

	/** Removes the directory and all channels in it, and the one above where no other agent has anything there. */
	remove(): void {
		this.#channels.clear();
		try {
			removeDirectory(this.directory);
			rmdirSync(dirname(this.directory));
		} catch (error) {
			// It has gone already, or others have something in the one above.
			const code = systemErrorCode(error);
			if (code !== "ENOENT" && code !== "ENOTEMPTY") throw error;
		}
	}
}

/** The directory gets its name with its owner's identity already in it: whoever sweeps never meets one that nobody seems to own. */
function makeDirectory(
	parent: string,
	name: string,
	self: ProcessIdentity,
): string {
	const starting = mkdtempSync(join(parent, ".starting-"));
	try {
		replaceFile(join(starting, OWNER_FILE), encodeIdentity(self), starting);
		return moveToFreeName(starting, join(parent, name));
	} catch (error) {
		rmSync(starting, { recursive: true, force: true });
		throw error;
	}
}

function moveToFreeName(from: string, wanted: string): string {
	for (let number = 1; ; number++) {
		const directory = number === 1 ? wanted : `${wanted}.${number}`;
		try {
			renameSync(from, directory);
			return directory;
		} catch (error) {
			// Renaming never replaces a directory that has something in it.
			const code = systemErrorCode(error);
			if (code !== "ENOTEMPTY" && code !== "EEXIST") throw error;
		}
	}
}
