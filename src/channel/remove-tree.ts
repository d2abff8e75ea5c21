import { chmodSync, lstatSync, readdirSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { systemErrorCode } from "../base/errors.js";

const REFUSED = new Set(["EACCES", "EPERM", "ENOTEMPTY"]);
const ALL = { recursive: true, force: true };
const OWNERS_ALONE = 0o700;

/**
 * Removes a directory tree, even if a worker made a directory in it that cannot be written or entered. Does nothing if it
 * is missing. Throws the system's error if it holds another user's files or ones that cannot be changed.
 */
export function removeTree(path: string): void {
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
