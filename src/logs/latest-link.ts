import {
	lstatSync,
	readlinkSync,
	renameSync,
	symlinkSync,
	unlinkSync,
} from "node:fs";
import { join } from "node:path";
import { attempt } from "../base/attempt.js";

/**
 * Points the link `latest` to the target, a number, in one step, unless it already points to a newer one. Returns a
 * function that undoes this after the target was removed. Throws the system's error: shares of some servers have no links.
 */
export function pointLatest(
	directory: string,
	target: string,
): (() => void) | undefined {
	const link = join(directory, "latest");
	const before = readLink(link);
	if (Number(before) > Number(target)) return undefined;
	replaceLink(link, target);
	return () => {
		if (exists(join(directory, target)) || readLink(link) !== target) return;
		if (before === undefined) unlinkSync(link);
		else replaceLink(link, before);
	};
}

/** Whether the name exists, even as a link that leads nowhere. */
export function exists(path: string): boolean {
	return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function readLink(path: string): string | undefined {
	return attempt(() => readlinkSync(path));
}

function replaceLink(link: string, target: string): void {
	const fresh = `${link}.${process.pid}`;
	symlinkSync(target, fresh);
	try {
		renameSync(fresh, link);
	} catch (error) {
		unlinkSync(fresh);
		throw error;
	}
}
