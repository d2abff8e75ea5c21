import { closeSync, constants, openSync, writeSync } from "node:fs";

const APPEND =
	constants.O_WRONLY |
	constants.O_APPEND |
	constants.O_CREAT |
	constants.O_NOFOLLOW;

/**
 * A file that lines are appended to at once, so that none is lost however the
 * process dies. A line that cannot be written (disk full) is dropped; the next
 * one is tried again.
 */
export class LogFile {
	readonly #fd: number;
	/** The last line was written in part: the next one starts anew. */
	#torn = false;

	/** Throws where the file cannot be opened. */
	constructor(path: string) {
		this.#fd = openSync(path, APPEND, 0o600);
	}

	write(line: string): void {
		let bytes = Buffer.from(this.#torn ? `\n${line}` : line);
		try {
			while (bytes.length > 0) {
				bytes = bytes.subarray(writeSync(this.#fd, bytes));
				this.#torn = bytes.length > 0;
			}
		} catch {
			// The other sink still has the line; there is nowhere else to say so.
		}
	}

	close(): void {
		closeSync(this.#fd);
	}
}
