import {
	chmodSync,
	lstatSync,
	mkdirSync,
	readdirSync,
	renameSync,
	rmdirSync,
	rmSync,
	type Stats,
	statSync,
	unlinkSync,
	utimesSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { attempt } from "../base/attempt.js";
import { systemErrorCode } from "../base/errors.js";
import { readMessage } from "./message-file.js";
import { channelError, channelFailure } from "./problems.js";
import {
	decodeIdentity,
	isDead,
	type ProcessIdentity,
} from "./process-identity.js";

/**
 * Makes a directory and its missing parents. Returns the first one that was made, undefined if all were there. Throws the
 * system's error. Node's own `recursive` never returns where a parent exists that takes no directories, as in /proc.
 * @param mode of what is made
 */
export function makeDirectories(
	directory: string,
	mode = 0o777,
): string | undefined {
	try {
		mkdirSync(directory, { mode });
		return directory;
	} catch (error) {
		const parent = dirname(directory);
		if (isDirectory(directory)) return undefined;
		const isMissing = systemErrorCode(error) === "ENOENT";
		if (!isMissing || parent === directory || isDirectory(parent)) throw error;
		const first = makeDirectories(parent, mode);
		const last = makeDirectories(directory, mode);
		return first ?? last;
	}
}

function isDirectory(path: string): boolean {
	return attempt(() => statSync(path).isDirectory()) ?? false;
}

const OTHERS = 0o077;
const GROUP_WRITES = 0o020;
const OTHERS_WRITE = 0o002;
const STICKY = 0o1000;

/**
 * Throws CHANNEL if others may rename, remove or replace what lies in this directory. Throws the system's error if it
 * cannot be examined.
 */
export function requireSafeBase(base: string, uid: number): void {
	const stat = statSync(base);
	if (!stat.isDirectory() || !isWrittenByOthers(stat, uid)) return;
	throw channelError(
		base,
		`its mode is ${modeOf(stat)}, so that other users can replace what is in it (chmod go-w it, or chmod +t it)`,
	);
}

/** A group whose number equals the user's has no other member: many systems give each user one. */
function isWrittenByOthers({ mode, gid }: Stats, uid: number): boolean {
	if ((mode & STICKY) !== 0) return false;
	const writes = gid === uid ? OTHERS_WRITE : OTHERS_WRITE | GROUP_WRITES;
	return (mode & writes) !== 0;
}

function modeOf({ mode }: Stats): string {
	return (mode & 0o7777).toString(8).padStart(4, "0");
}

/** Makes a directory that only this user can enter, or accepts an existing one. Throws CHANNEL otherwise. */
export function takePrivateDirectory(directory: string, uid: number): void {
	try {
		mkdirSync(directory, { mode: 0o700 });
	} catch (error) {
		if (systemErrorCode(error) !== "EEXIST") {
			throw channelFailure(directory, error);
		}
	}
	requirePrivateDirectory(directory, uid);
}

/** Throws CHANNEL unless it is this user's directory and nobody else can enter it. */
function requirePrivateDirectory(directory: string, uid: number): void {
	const stat = lstatSync(directory);
	if (stat.isSymbolicLink()) {
		throw channelError(directory, "it is a symbolic link");
	}
	if (!stat.isDirectory()) {
		throw channelError(directory, "it is not a directory");
	}
	if (stat.uid !== uid) {
		throw channelError(directory, `it belongs to user ${stat.uid}, not ${uid}`);
	}
	if ((stat.mode & OTHERS) !== 0) {
		throw channelError(
			directory,
			`its mode is ${modeOf(stat)}, so that others can reach it (chmod 700 it if it is yours)`,
		);
	}
}

const REFUSED = new Set(["EACCES", "EPERM", "ENOTEMPTY"]);
const ALL = { recursive: true, force: true };
const OWNERS_ALONE = 0o700;

/**
 * Removes a directory tree, even if a worker made a directory in it that cannot be written or entered. Does nothing if it
 * is missing. Throws the system's error if it holds another user's files or ones that cannot be changed.
 */
export function removeTree(path: string): void {
	try {
		// What a link points to stays.
		if (lstatSync(path).isDirectory()) removeUsual(path);
		else unlinkSync(path);
	} catch {
		removeUnusual(path);
	}
}

/** Node's own asks of each path first what it is, and an agent's end waits for this. */
function removeUsual(directory: string): void {
	for (const entry of readdirSync(directory, { withFileTypes: true })) {
		const path = join(directory, entry.name);
		if (!entry.isDirectory()) unlinkSync(path);
		else if (!removeEmpty(path)) removeUsual(path);
	}
	rmdirSync(directory);
}

/** Returns whether it was empty: most of an agent's directories are. */
function removeEmpty(directory: string): boolean {
	try {
		rmdirSync(directory);
		return true;
	} catch {
		return false;
	}
}

function removeUnusual(path: string): void {
	try {
		rmSync(path, ALL);
	} catch (error) {
		if (!REFUSED.has(systemErrorCode(error) ?? "")) throw error;
		openAll(path);
		rmSync(path, ALL);
	}
}

/** The same while other work goes on. */
export async function removeTreeAside(path: string): Promise<void> {
	try {
		await rm(path, ALL);
	} catch {
		removeTree(path);
	}
}

/** Gives this user access to a directory and all below it. Does not follow links. */
function openAll(path: string): void {
	openToOwner(path);
	for (const entry of readdirSync(path, { withFileTypes: true })) {
		if (entry.isDirectory()) openAll(join(path, entry.name));
	}
}

/** Gives this user access to an own directory again. Throws the system's error. */
export function openToOwner(directory: string): void {
	const found = lstatSync(directory);
	if (found.isDirectory() && (found.mode & OWNERS_ALONE) !== OWNERS_ALONE) {
		chmodSync(directory, OWNERS_ALONE);
	}
}

/** The prefix of a directory's name during its removal. */
const ENDING_PREFIX = ".ending-";

/**
 * Removes an agent's directory. It renames it first, because another agent may take the name of an empty directory. Then
 * it calls `isWanted` with the moved directory, and moves it back if the answer is no. Throws the system's error; ENOENT
 * if there is no such directory.
 */
export function removeDirectory(
	directory: string,
	isWanted: (moved: string) => boolean = () => true,
): void {
	const name = `${ENDING_PREFIX}${process.pid}-${basename(directory)}`;
	const moved = join(dirname(directory), name);
	removeTree(moved);
	renameSync(directory, moved);
	if (isWanted(moved)) removeTree(moved);
	else renameSync(moved, directory);
}

/** Names the owner of a directory. */
export const OWNER_FILE = "agent.json";

/**
 * Removes the directories of agents that are certainly dead. `local`: no other machine can see the place, so an identity
 * from another boot is an earlier one of this machine. What cannot be read or removed stays.
 */
export function sweepDeadAgents(
	parent: string,
	self: ProcessIdentity,
	local: boolean,
): void {
	const isLeftBehind = (directory: string) => {
		const file = readMessage(join(directory, OWNER_FILE));
		if (file === undefined) {
			return basename(directory).startsWith(ENDING_PREFIX);
		}
		const owner = decodeIdentity(file.text);
		return isDeadAgents(owner, self, local);
	};
	for (const entry of readdirSync(parent, { withFileTypes: true })) {
		if (!entry.isDirectory()) continue;
		const directory = join(parent, entry.name);
		try {
			if (isLeftBehind(directory)) removeDirectory(directory, isLeftBehind);
		} catch {
			// Its owner is unknown, or somebody else has just removed it.
		}
	}
}

/**
 * Whether the agent of a directory is certainly dead. An identity from another boot proves it only if no other machine
 * can see the place.
 */
export function isDeadAgents(
	owner: ProcessIdentity,
	self: ProcessIdentity,
	local: boolean,
): boolean {
	return (local || owner.bootId === self.bootId) && isDead(owner, self);
}

/**
 * Sets the times of a directory tree (`time`: milliseconds since 1970), so that cleaners of temporary directories keep
 * it. Skips what is gone meanwhile.
 */
export function touchTree(directory: string, time: number): void {
	try {
		for (const entry of readdirSync(directory, { withFileTypes: true })) {
			const path = join(directory, entry.name);
			if (entry.isDirectory()) touchTree(path, time);
			else if (entry.isFile()) touch(path, time);
		}
		touch(directory, time);
	} catch {
		// It was removed or replaced; there is nothing to keep.
	}
}

function touch(path: string, time: number): void {
	try {
		utimesSync(path, time / 1000, time / 1000);
	} catch {}
}
