import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/** A pipe or a link that a worker left in place of its file neither blocks nor misleads. */
const READ_ONLY =
	constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export interface FileSection {
	readonly bytes: Buffer;
	/** Where the bytes begin in the file. */
	readonly start: number;
	/** Of the whole file, in bytes. */
	readonly size: number;
}

/** The last `most` bytes of a regular file, none of them before `from`; undefined where it cannot be read. */
export function readFileSection(
	path: string,
	from: number,
	most: number,
): FileSection | undefined {
	try {
		const fd = openSync(path, READ_ONLY);
		try {
			const stat = fstatSync(fd);
			if (!stat.isFile()) return undefined;
			const start = Math.max(from, stat.size - most);
			const bytes = Buffer.alloc(Math.max(0, stat.size - start));
			const read = readSync(fd, bytes, 0, bytes.length, start);
			return { bytes: bytes.subarray(0, read), start, size: stat.size };
		} finally {
			closeSync(fd);
		}
	} catch {
		return undefined;
	}
}
