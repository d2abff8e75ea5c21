import { renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** What a directory's name begins with while it is being removed. */
export const ENDING_PREFIX = ".ending-";

/**
 * Removes an agent's directory. It is renamed first, because another agent may
 * take the name of a directory as soon as it is empty. `isWanted` is asked after
 * that, of the directory that was moved; where it says no, it goes back. Throws
 * the system's error, ENOENT where there is no such directory.
 */
export function removeDirectory(
	directory: string,
	isWanted: (moved: string) => boolean = () => true,
): void {
	const name = `${ENDING_PREFIX}${process.pid}-${basename(directory)}`;
	const moved = join(dirname(directory), name);
	rmSync(moved, { recursive: true, force: true });
	renameSync(directory, moved);
	if (isWanted(moved)) rmSync(moved, { recursive: true, force: true });
	else renameSync(moved, directory);
}
