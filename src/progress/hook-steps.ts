import { closeSync, constants, openSync, readSync } from "node:fs";

/** The number of steps in the hook's file: decimal, right-aligned. */
const LENGTH = 20;
/** A worker could leave a link or a pipe in the file's place. */
const READ_ONLY =
	constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Reads the steps that the hook in a worker counts. The file is opened each time: a worker's next process makes a new one. */
export class HookSteps {
	private readonly buffer = Buffer.alloc(LENGTH);

	/** @param path see docs/hook.md */
	constructor(private readonly path: string) {}

	/** Undefined if the hook has counted none. Never throws. */
	read(): number | undefined {
		try {
			const fd = openSync(this.path, READ_ONLY);
			try {
				const read = readSync(fd, this.buffer, 0, LENGTH, 0);
				const text = this.buffer.toString("latin1", 0, read).trim();
				return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
			} finally {
				closeSync(fd);
			}
		} catch {
			return undefined;
		}
	}
}
