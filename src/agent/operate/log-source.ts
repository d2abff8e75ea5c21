import { closeSync, constants, openSync, readSync, statSync } from "node:fs";
import { plainText } from "../logs/plain-text.js";
import { lineTime } from "./line-time.js";

/** Whose lines a file has. */
export interface LineOrigin {
	readonly nodeId: string;
	/** The global rank that its worker was started with; null: the launcher's own log, or it is not known. */
	readonly rank: number | null;
	readonly localRank: number | null;
	/** The round that its worker was started in; null: the launcher. */
	readonly round: number | null;
	readonly stream: "stdout" | "stderr" | "launcher";
}

export interface LogLine extends LineOrigin {
	/** Milliseconds since 1970. */
	readonly time: number;
	/** Whether the line says its time itself; else it is that of the line before, or of its file. */
	readonly timeFrom: "line" | "line before" | "file";
	/** Without control sequences. */
	readonly text: string;
}

const NEWLINE = 0x0a;
const READ_BYTES = 64 * 1024;
/** A longer line comes in pieces of about this many bytes. */
const LONGEST_LINE_BYTES = 1024 * 1024;
const READ_ONLY = constants.O_RDONLY | constants.O_NOFOLLOW;

/** The lines of one file, one after the other, while it may still grow. No descriptor is kept open. */
export class LogSource {
	/** When the file came into being: before any of its lines. */
	readonly bornAt: number;
	/** Whether any line has told its time. */
	hasTimes = false;
	#position = 0;
	#rest: Buffer = Buffer.alloc(0);
	#time: number;
	#next: LogLine | undefined;

	constructor(
		readonly path: string,
		readonly origin: LineOrigin,
	) {
		const { birthtimeMs, mtimeMs } = statSync(path);
		// Some file systems do not keep when a file was made.
		this.bornAt = birthtimeMs > 0 ? Math.min(birthtimeMs, mtimeMs) : mtimeMs;
		this.#time = this.bornAt;
	}

	/**
	 * The line that comes next; undefined: there is none yet. Times never go back
	 * within a file.
	 * @param isLast whether a last line without an end is one
	 */
	peek(isLast: boolean): LogLine | undefined {
		if (this.#next !== undefined) return this.#next;
		const raw = this.#take(isLast);
		if (raw === undefined) return undefined;
		const text = plainText(raw.toString("utf8").replace(/\r?\n$/, ""));
		const own = lineTime(text);
		const timeFrom =
			own !== undefined ? "line" : this.hasTimes ? "line before" : "file";
		this.hasTimes ||= own !== undefined;
		this.#time = Math.max(this.#time, own ?? this.#time);
		this.#next = { time: this.#time, timeFrom, ...this.origin, text };
		return this.#next;
	}

	/** What was peeked at has been taken. */
	advance(): void {
		this.#next = undefined;
	}

	#take(isLast: boolean): Buffer | undefined {
		for (let from = 0; ; ) {
			const end = this.#rest.indexOf(NEWLINE, from) + 1;
			if (end > 0) return this.#cut(end);
			if (this.#rest.length >= LONGEST_LINE_BYTES) {
				return this.#cut(this.#rest.length);
			}
			from = this.#rest.length;
			if (!this.#read()) {
				return isLast && from > 0 ? this.#cut(from) : undefined;
			}
		}
	}

	#cut(end: number): Buffer {
		const line = this.#rest.subarray(0, end);
		this.#rest = this.#rest.subarray(end);
		return line;
	}

	/** Returns whether there was more. */
	#read(): boolean {
		const fd = openSync(this.path, READ_ONLY);
		try {
			const chunk = Buffer.allocUnsafe(READ_BYTES);
			const bytes = readSync(fd, chunk, 0, READ_BYTES, this.#position);
			this.#position += bytes;
			this.#rest = Buffer.concat([this.#rest, chunk.subarray(0, bytes)]);
			return bytes > 0;
		} finally {
			closeSync(fd);
		}
	}
}
