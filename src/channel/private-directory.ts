import { lstatSync, mkdirSync } from "node:fs";
import { systemErrorCode } from "../errors.js";
import { channelError, channelFailure } from "./channel-error.js";

const OTHERS = 0o077;

/** Makes a directory that only this user can enter, or takes one that is there already and is just that. Throws CHANNEL otherwise. */
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

/** Throws CHANNEL unless it is a directory of this user's that nobody else can enter. */
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
		const mode = (stat.mode & 0o7777).toString(8).padStart(4, "0");
		throw channelError(
			directory,
			`its mode is ${mode}, so that others can reach it (chmod 700 it if it is yours)`,
		);
	}
}
