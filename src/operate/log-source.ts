import {
	closeSync,
	constants,
	fstatSync,
	openSync,
	readSync,
	statSync,
} from "node:fs";
import { attempt } from "../base/attempt.js";
import { systemErrorCode } from "../base/errors.js";
import { plainText, timesPath } from "../logs/index.js";

export interface LineOrigin {
	readonly nodeId: string;
	/** The global rank with which its worker was started; null for the launcher's log, or if unknown. */
	readonly rank: number | null;
	readonly localRank: number | null;
	/** The round in which its worker was started; null for the launcher. */
	readonly round: number | null;
	readonly stream: "stdout" | "stderr" | "launcher";
}

export interface LogLine extends LineOrigin {
	/** Milliseconds since 1970. */
	readonly time: number;
	/** The source of the time: the line itself, the line before it, the launcher's record of its arrival, or the file's creation. */
	readonly timeFrom: "line" | "line before" | "arrival" | "file";
	/** Without control sequences. */
	readonly text: string;
}

const NEWLINE = 0x0a;
const READ_BYTES = 64 * 1024;
/** A longer line comes in pieces of about this many bytes. */
const LONGEST_LINE_BYTES = 1024 * 1024;
/** Does not block on a pipe that a worker left there. */
const READ_ONLY =
	constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Reads the lines of one file, which may still grow, in order. Keeps no descriptor open. */
export class LogSource {
	/** When the file was created: before any of its lines. */
	readonly bornAt: number;
	/** Whether any line contained its time. */
	hasTimes = false;
	/** How much was read, and how much of that was taken as lines, in bytes. */
	private position = 0;
	private taken = 0;
	private readonly arrivals: ArrivalTimes;
	/** Everything that was there at first was read: what follows is new. */
	private isLive = false;
	/** When the last new line was written. */
	private liveAt: number | undefined;
	private saysTimes = false;
	private rest: Buffer = Buffer.alloc(0);
	private time: number;
	private next: LogLine | undefined;

	constructor(
		readonly path: string,
		readonly origin: LineOrigin,
	) {
		const { birthtimeMs, mtimeMs } = statSync(path);
		// Some file systems do not record when a file was made.
		this.bornAt = birthtimeMs > 0 ? Math.min(birthtimeMs, mtimeMs) : mtimeMs;
		this.time = this.bornAt;
		this.arrivals = new ArrivalTimes(timesPath(path));
	}

	/** When it was last written, in milliseconds since 1970. */
	get changedAt(): number {
		return statSync(this.path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
	}

	/**
	 * The next line; undefined if there is none yet. Times never decrease within a file.
	 * @param isLast whether an unfinished last line counts
	 */
	peek(isLast: boolean): LogLine | undefined {
		if (this.next !== undefined) return this.next;
		const from = this.taken;
		const raw = this.take(isLast);
		if (raw === undefined) return undefined;
		const text = plainText(raw.toString("utf8").replace(/\r?\n$/, ""));
		const own = lineTime(text);
		// An entry of a program that logs times may continue over several lines.
		this.saysTimes ||= own !== undefined;
		const came = this.saysTimes ? undefined : this.cameAt(from);
		const time = own ?? came;
		this.hasTimes ||= time !== undefined;
		const timeFrom = this.whence(own, came);
		this.time = Math.max(this.time, time ?? this.time);
		this.next = { time: this.time, timeFrom, ...this.origin, text };
		return this.next;
	}

	/** The launcher may record the arrival of a line shortly after it was read here. */
	private cameAt(offset: number): number | undefined {
		const known = this.arrivals.at(offset);
		if (this.liveAt === undefined) return known;
		return Math.max(known ?? 0, this.liveAt);
	}

	private whence(own: number | undefined, came: number | undefined) {
		if (own !== undefined) return "line";
		if (came !== undefined) return "arrival";
		return this.saysTimes ? "line before" : "file";
	}

	/** Takes the peeked line. */
	advance(): void {
		this.next = undefined;
	}

	private take(isLast: boolean): Buffer | undefined {
		for (let from = 0; ; ) {
			const end = this.rest.indexOf(NEWLINE, from) + 1;
			if (end > 0) return this.cut(end);
			if (this.rest.length >= LONGEST_LINE_BYTES) {
				return this.cut(this.rest.length);
			}
			from = this.rest.length;
			if (!this.read()) {
				return isLast && from > 0 ? this.cut(from) : undefined;
			}
		}
	}

	private cut(end: number): Buffer {
		const line = this.rest.subarray(0, end);
		this.rest = this.rest.subarray(end);
		this.taken += line.length;
		return line;
	}

	/** Returns whether there was more. */
	private read(): boolean {
		const fd = this.open();
		if (fd === undefined) return false;
		try {
			const chunk = Buffer.allocUnsafe(READ_BYTES);
			const bytes = readSync(fd, chunk, 0, READ_BYTES, this.position);
			this.position += bytes;
			this.rest = Buffer.concat([this.rest, chunk.subarray(0, bytes)]);
			if (bytes === 0) this.isLive = true;
			else this.arrivals.refresh();
			if (bytes > 0 && this.isLive) this.liveAt = fstatSync(fd).mtimeMs;
			return bytes > 0;
		} finally {
			closeSync(fd);
		}
	}

	/** Undefined if somebody has removed the file: then there are no new lines. */
	private open(): number | undefined {
		try {
			return openSync(this.path, READ_ONLY);
		} catch (error) {
			if (systemErrorCode(error) === "ENOENT") return undefined;
			throw error;
		}
	}
}

/** How far into a line its time may begin: after a level, a rank in brackets, or the like. */
const LOOKED_AT_CHARACTERS = 80;
const DATE_AND_TIME =
	/(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)?/;
/** The fields in which JSON logs have the time. */
const TIME_FIELDS = ["time", "timestamp", "ts", "@timestamp"] as const;
/** A smaller number is in seconds since 1970, not in milliseconds. */
const LEAST_MILLISECONDS = 1e11;

/**
 * The time in a line, in milliseconds since 1970; undefined if it has none. It reads dates with times as ISO 8601 and
 * Python's logging write them (without a zone: this machine's), and the usual fields of JSON lines.
 */
export function lineTime(line: string): number | undefined {
	return line.startsWith("{") ? jsonTime(line) : textTime(line);
}

function textTime(line: string): number | undefined {
	const [, ...parts] =
		DATE_AND_TIME.exec(line.slice(0, LOOKED_AT_CHARACTERS)) ?? [];
	const [year, month, day, hours, minutes, seconds, fraction, zone] = parts;
	if (year === undefined) return undefined;
	const milliseconds = (fraction ?? "").slice(0, 3).padEnd(3, "0");
	const text = `${year}-${month}-${day}T${hours}:${minutes}:${seconds}.${milliseconds}${zone ?? ""}`;
	return validTime(Date.parse(text));
}

function jsonTime(line: string): number | undefined {
	const record = parse(line);
	for (const field of TIME_FIELDS) {
		const value = record?.get(field);
		if (typeof value === "string") return textTime(value);
		if (typeof value === "number") {
			return validTime(value < LEAST_MILLISECONDS ? value * 1_000 : value);
		}
	}
	return undefined;
}

function parse(line: string): ReadonlyMap<string, unknown> | undefined {
	const value: unknown = attempt(() => JSON.parse(line));
	return typeof value === "object" && value !== null
		? new Map(Object.entries(value))
		: undefined;
}

function validTime(time: number): number | undefined {
	return Number.isFinite(time) && time > 0 ? time : undefined;
}

/** As much as a year of times: anything beyond was not written by the launcher. */
const MOST_BYTES = 1024 * 1024 * 1024;
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
