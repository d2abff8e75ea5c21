import { closeSync, constants, openSync, writeSync } from "node:fs";

/** Does not follow a link, and does not write to a pipe. */
const APPEND =
	constants.O_WRONLY |
	constants.O_APPEND |
	constants.O_CREAT |
	constants.O_NOFOLLOW |
	constants.O_NONBLOCK;
/** How long one time holds, in milliseconds: it limits the size of the file and the precision of the times. */
const EVERY_MS = 1_000;

/** The path of the times of `stdout.log`: `stdout.times`. */
export function timesPath(logPath: string): string {
	return `${logPath.replace(/\.log$/, "")}.times`;
}

/**
 * Records when the lines of a growing file came, in a file beside it. A line `OFFSET TIME` says: the bytes from OFFSET on
 * came at TIME (milliseconds since 1970), within about a second. If OFFSET is lower than in the line before, the file was
 * emptied in between.
 */
export class ArrivalIndex {
	private readonly path: string;
	private size: number;
	private lookedAt: number;
	private toldAt = Number.NEGATIVE_INFINITY;

	/**
	 * @param size the file's present size, in bytes
	 * @param now milliseconds since 1970
	 * @param onError receives why a time could not be written
	 */
	constructor(
		logPath: string,
		size: number,
		now: number,
		private readonly onError: (error: unknown) => void,
	) {
		this.path = timesPath(logPath);
		this.size = size;
		this.lookedAt = now;
	}

	/** Records the file's size at this time. */
	saw(size: number, now: number): void {
		if (size < this.size) {
			this.size = 0;
			this.toldAt = Number.NEGATIVE_INFINITY;
		}
		const isDue = Math.abs(now - this.toldAt) >= EVERY_MS;
		if (size > this.size && isDue) {
			this.tell(`${this.size} ${Math.round(this.lookedAt)}\n`);
			this.toldAt = now;
		}
		this.size = size;
		this.lookedAt = now;
	}

	private tell(line: string): void {
		try {
			const fd = openSync(this.path, APPEND, 0o600);
			try {
				writeSync(fd, line);
			} finally {
				closeSync(fd);
			}
		} catch (error) {
			// The times are a convenience: the lines themselves are in the file.
			this.onError(error);
		}
	}
}
