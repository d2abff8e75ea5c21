import {
	closeSync,
	constants,
	fstatSync,
	lstatSync,
	openSync,
	writeSync,
} from "node:fs";

const APPEND =
	constants.O_WRONLY |
	constants.O_APPEND |
	constants.O_CREAT |
	constants.O_NOFOLLOW;

/**
 * A file whose lines are written at once, so that none is lost however the process dies. A line that cannot be written
 * (disk full) is dropped; the next one is tried again. If the file was removed or renamed, it is made again.
 */
export class LogFile {
	private fd: number;
	private readonly path: string;
	private readonly makeDirectory: () => void;
	/** The last line was written in part: the next one begins a new line. */
	private torn = false;

	/**
	 * Throws if the file cannot be opened.
	 * @param makeDirectory makes its directory again after it was removed; throws if another one is in its place
	 */
	constructor(path: string, makeDirectory: () => void) {
		this.path = path;
		this.makeDirectory = makeDirectory;
		this.fd = openSync(path, APPEND, 0o600);
	}

	/** Returns the system's error if the line was not written. */
	write(line: string): unknown {
		this.openAgain();
		let bytes = Buffer.from(this.torn ? `\n${line}` : line);
		try {
			while (bytes.length > 0) {
				bytes = bytes.subarray(writeSync(this.fd, bytes));
				this.torn = bytes.length > 0;
			}
			return undefined;
		} catch (error) {
			return error;
		}
	}

	private openAgain(): void {
		try {
			const named = lstatSync(this.path, { throwIfNoEntry: false });
			// Somebody put a link or a pipe there, and does not want a log.
			if (named !== undefined && !named.isFile()) return;
			if (named?.ino === fstatSync(this.fd).ino) return;
			this.makeDirectory();
			const fd = openSync(this.path, APPEND, 0o600);
			closeSync(this.fd);
			this.fd = fd;
			this.torn = false;
		} catch {
			// It keeps writing to the open file.
		}
	}

	close(): void {
		closeSync(this.fd);
	}
}
