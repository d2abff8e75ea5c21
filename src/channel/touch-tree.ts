import { readdirSync, utimesSync } from "node:fs";
import { join } from "node:path";

/**
 * Sets the times of a directory and of all that is in it (`time`: milliseconds
 * since 1970), so that no cleaner of temporary directories takes it for
 * forgotten. What is gone meanwhile is passed over.
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
		// It has been removed, or is another's by now; there is nothing to keep.
	}
}

function touch(path: string, time: number): void {
	try {
		utimesSync(path, time / 1000, time / 1000);
	} catch {
		// The same.
	}
}
