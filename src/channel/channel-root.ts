import {
	existsSync,
	mkdtempSync,
	renameSync,
	rmdirSync,
	rmSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { ElasticRunError, systemErrorCode } from "../base/errors.js";
import {
	makeDirectories,
	OWNER_FILE,
	openToOwner,
	removeDirectory,
	requireSafeBase,
	sweepDeadAgents,
	takePrivateDirectory,
} from "./directories.js";
import { networkFileSystemOf } from "./directory-watch.js";
import { installDoorbells } from "./doorbell.js";
import { workerDirectoryName } from "./layout.js";
import { replaceFile } from "./message-file.js";
import { channelError, channelFailure } from "./problems.js";
import {
	encodeIdentity,
	ownIdentity,
	type ProcessIdentity,
} from "./process-identity.js";
import { WorkerChannel } from "./worker-channel.js";

export interface ChannelRootOptions {
	/** The directory below which all channels lie. It is created if missing. */
	readonly base: string;
	/** The fallback if the base has vanished and cannot be created again. */
	readonly otherBase?: string;
	/** The user that this process runs as. */
	readonly uid: number;
	readonly runId: string;
	readonly agentId: string;
}

/** Leaves room below the 255 bytes that a file name may have. */
const LONGEST_NAME = 200;

/** The session's base directory vanishes when its user logs out. */
function openElsewhere(options: ChannelRootOptions): string {
	try {
		return openDirectory(options);
	} catch (error) {
		const { otherBase } = options;
		if (otherBase === undefined || existsSync(options.base)) throw error;
		return openDirectory({ ...options, base: otherBase });
	}
}

/** Throws CHANNEL. */
function openDirectory(options: ChannelRootOptions): string {
	const parent = join(resolve(options.base), `elastic-run-${options.uid}`);
	for (let retries = 2; ; retries--) {
		try {
			makeBase(dirname(parent));
			requireSafeBase(dirname(parent), options.uid);
			return openBelow(parent, options);
		} catch (error) {
			if (error instanceof ElasticRunError) throw error;
			// An agent that ends removes the parent if it was the last one in it.
			if (retries > 0 && systemErrorCode(error) === "ENOENT") continue;
			throw channelFailure(parent, error);
		}
	}
}

function makeBase(base: string): void {
	if (existsSync(base)) return;
	try {
		makeDirectories(base, 0o700);
	} catch (error) {
		throw channelFailure(base, error);
	}
}

function openBelow(parent: string, options: ChannelRootOptions): string {
	takePrivateDirectory(parent, options.uid);
	const network = networkFileSystemOf(parent);
	const self = ownIdentity();
	sweepDeadAgents(parent, self, network === undefined);
	const name = `${options.runId}.${options.agentId}`.slice(0, LONGEST_NAME);
	return makeDirectory(parent, name, self);
}

/** The directory already holds its owner's identity when it gets its name, so that a sweep never sees one without an owner. */
function makeDirectory(
	parent: string,
	name: string,
	self: ProcessIdentity,
): string {
	const starting = mkdtempSync(join(parent, ".starting-"));
	try {
		writeOwner(starting, self);
		return moveToFreeName(starting, join(parent, name));
	} catch (error) {
		rmSync(starting, { recursive: true, force: true });
		throw error;
	}
}

/** Throws the system's error. */
function writeOwner(directory: string, self: ProcessIdentity): void {
	const text = encodeIdentity(self);
	replaceFile(join(directory, OWNER_FILE), text, directory);
}

function moveToFreeName(from: string, wanted: string): string {
	for (let number = 1; ; number++) {
		const directory = number === 1 ? wanted : `${wanted}.${number}`;
		try {
			renameSync(from, directory);
			return directory;
		} catch (error) {
			// Renaming never replaces a non-empty directory.
			const code = systemErrorCode(error);
			if (code !== "ENOTEMPTY" && code !== "EEXIST") throw error;
		}
	}
}

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
	private readonly listeners: ((directory: string) => void)[] = [];
	/** What the user should know about the directory. */
	readonly warnings: readonly string[];
	/** Channels without a doorbell yet: only file notifications bring their workers news. */
	private readonly silent: WorkerChannel[] = [];
	private readonly opened = new Set<WorkerChannel>();
	/** Channels made ahead, by local rank, that no worker has yet. */
	private readonly ahead = new Map<number, WorkerChannel>();
	private created = 0;
	private isRemoved = false;

	/** @param openAgain makes a directory in place of a vanished one, or throws CHANNEL */
	constructor(
		private currentDirectory: string,
		private readonly networkFileSystem: string | undefined,
		private readonly openAgain: () => string,
	) {
		this.warnings =
			networkFileSystem === undefined
				? []
				: [
						`The channel directory ${currentDirectory} is on a network file system (${networkFileSystem}): changes are found by polling, which is slower. Set ELASTIC_RUN_DIR to a directory on a local disk.`,
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

	/** Makes the next channel of this rank early, and its hook's directory, unless it exists: the worker then starts faster. */
	createAhead(localRank: number, hasHook: boolean): void {
		if (this.isRemoved || this.ahead.has(localRank)) return;
		let channel: WorkerChannel | undefined;
		try {
			channel = this.make(localRank);
			channel.prepareFirstEvent();
			if (hasHook) channel.makeHook();
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
			// Commands find an agent by this file only.
			if (existsSync(join(this.currentDirectory, OWNER_FILE))) return;
			writeOwner(this.currentDirectory, ownIdentity());
		} catch (error) {
			if (!GONE.has(systemErrorCode(error) ?? "")) {
				throw channelFailure(this.currentDirectory, error);
			}
			this.ahead.clear();
			this.currentDirectory = this.openAgain();
		}
		for (const notify of this.listeners) notify(this.currentDirectory);
	}

	private make(localRank: number): WorkerChannel {
		this.created += 1;
		const name = workerDirectoryName(localRank, this.created);
		const channel: WorkerChannel = new WorkerChannel(
			join(this.directory, name),
			() => this.opened.delete(channel),
		);
		return channel;
	}

	/** Makes doorbells for the channels handed out since the last call. On a network file system workers poll instead. */
	installDoorbells(): void {
		const paths = this.silent.splice(0).map(({ doorbell }) => doorbell);
		if (this.networkFileSystem === undefined) installDoorbells(paths);
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
