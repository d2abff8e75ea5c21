import { closeSync, constants, openSync, readSync } from "node:fs";

/** The number of steps in the hook's file: decimal, right-aligned. */
const LENGTH = 20;
/** A worker could leave a link or a pipe in the file's place. */
const READ_ONLY =
	constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Reads the steps that the hook in a worker counts. The file stays open, because the hook writes it in place. */
export class HookSteps {
	private readonly buffer = Buffer.alloc(LENGTH);
	private fd: number | undefined;

	/** @param path see docs/hook.md */
	constructor(private readonly path: string) {}

	/** Undefined if the hook has counted none. Never throws. */
	read(): number | undefined {
		try {
			this.fd ??= openSync(this.path, READ_ONLY);
			const read = readSync(this.fd, this.buffer, 0, LENGTH, 0);
			const text = this.buffer.toString("latin1", 0, read).trim();
			return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
		} catch {
			return undefined;
		}
	}

	close(): void {
		if (this.fd !== undefined) closeSync(this.fd);
		this.fd = undefined;
	}
}
