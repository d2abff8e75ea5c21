import { closeSync, constants, openSync, readSync } from "node:fs";

/** Does not block on a pipe that a worker left there. */
const READ_ONLY =
	constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** As much as a year of times: anything beyond was not written by the launcher. */
const MOST_BYTES = 1024 * 1024 * 1024;
const READ_BYTES = 64 * 1024;
const ENTRY = /^(\d{1,15}) (\d{1,15})$/;

/** When the lines of one log file came, as recorded by its launcher: see `ArrivalIndex`. */
export class ArrivalTimes {
	private readonly path: string;
	private offsets: number[] = [];
	private times: number[] = [];
	/** The entry of the last answer. */
	private lastOffset = -1;
	private position = 0;
	private rest = "";

	/** @param path the file with the times, which may be missing */
	constructor(path: string) {
		this.path = path;
	}

	/** Reads what was written since. An unreadable file has no times. */
	refresh(): void {
		try {
			const fd = openSync(this.path, READ_ONLY);
			try {
				this.read(fd);
			} finally {
				closeSync(fd);
			}
		} catch {
			// The launcher shows none of these lines, or could not write.
		}
	}

	/**
	 * When the byte at this offset came, in milliseconds since 1970; undefined if that was not recorded. Offsets must not
	 * decrease.
	 */
	at(offset: number): number | undefined {
		while (
			(this.offsets[this.lastOffset + 1] ?? Number.POSITIVE_INFINITY) <= offset
		) {
			this.lastOffset += 1;
		}
		return this.times[this.lastOffset];
	}

	private read(fd: number): void {
		const chunk = Buffer.allocUnsafe(READ_BYTES);
		while (this.position < MOST_BYTES) {
			const bytes = readSync(fd, chunk, 0, READ_BYTES, this.position);
			if (bytes === 0) return;
			this.position += bytes;
			const lines = `${this.rest}${chunk.toString("latin1", 0, bytes)}`;
			const entries = lines.split("\n");
			this.rest = (entries.pop() ?? "").slice(-READ_BYTES);
			for (const entry of entries) this.add(entry);
		}
	}

	private add(entry: string): void {
		const [, offset, time] = ENTRY.exec(entry) ?? [];
		if (offset === undefined || time === undefined) return;
		if (Number(offset) < (this.offsets.at(-1) ?? 0)) {
			// The log was emptied: earlier entries no longer hold.
			this.offsets = [];
			this.times = [];
			this.lastOffset = -1;
		}
		this.offsets.push(Number(offset));
		this.times.push(Number(time));
	}
}
