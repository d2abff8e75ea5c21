import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { systemErrorCode } from "../base/errors.js";

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
	try {
		return statSync(path).isDirectory();
	} catch {
		return false;
	}
}
