import { renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { removeTree } from "./remove-tree.js";

/** The prefix of a directory's name during its removal. */
export const ENDING_PREFIX = ".ending-";

/**
 * Removes an agent's directory. It renames it first, because another agent may take the name of an empty directory. Then
 * it asks `isWanted` about the moved directory, and moves it back if the answer is no. Throws the system's error; ENOENT
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
