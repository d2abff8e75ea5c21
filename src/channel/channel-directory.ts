import { existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { ElasticRunError, systemErrorCode } from "../base/errors.js";
import { channelFailure } from "./channel-error.js";
import { makeDirectories } from "./make-directories.js";
import { replaceFile } from "./message-file.js";
import { networkFileSystemOf } from "./network-file-system.js";
import { requireSafeBase, takePrivateDirectory } from "./private-directory.js";
import {
	encodeIdentity,
	ownIdentity,
	type ProcessIdentity,
} from "./process-identity.js";
import { OWNER_FILE, sweepDeadAgents } from "./sweep.js";

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
export function openElsewhere(options: ChannelRootOptions): string {
	try {
		return openDirectory(options);
	} catch (error) {
		const { otherBase } = options;
		if (otherBase === undefined || existsSync(options.base)) throw error;
		return openDirectory({ ...options, base: otherBase });
	}
}

/** Throws CHANNEL. */
export function openDirectory(options: ChannelRootOptions): string {
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
export function writeOwner(directory: string, self: ProcessIdentity): void {
	const text = encodeIdentity(self);
	replaceFile(join(directory, OWNER_FILE), text, directory);
}

/** Whether it names its owner: commands look only for that. */
export function hasOwner(directory: string): boolean {
	return existsSync(join(directory, OWNER_FILE));
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
