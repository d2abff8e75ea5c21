import {
	lstatSync,
	readlinkSync,
	renameSync,
	symlinkSync,
	unlinkSync,
} from "node:fs";
import { join } from "node:path";

/**
 * Lets the link `latest` point to the target, a number, in one step; a newer
 * number stays. Returns how to take it back once the target is gone again.
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

/** Whether anything of that name is there, a link that leads nowhere too. */
export function exists(path: string): boolean {
	return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function readLink(path: string): string | undefined {
	try {
		return readlinkSync(path);
	} catch {
		return undefined;
	}
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
