import { readdirSync, utimesSync } from "node:fs";
import { join } from "node:path";

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
