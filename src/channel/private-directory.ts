import { lstatSync, mkdirSync, type Stats, statSync } from "node:fs";
import { systemErrorCode } from "../base/errors.js";
import { channelError, channelFailure } from "./channel-error.js";

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
