import {
	closeSync,
	constants,
	existsSync,
	fstatSync,
	openSync,
	readSync,
} from "node:fs";
import type { HeldFile } from "../logs/index.js";

/** Each number in the hook's file: decimal, right-aligned. */
const LENGTH = 20;
/** A worker could leave a link or a pipe in the file's place. */
const READ_ONLY =
	constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** What the hook in a worker has counted. */
export interface CountedSteps {
	readonly steps: number;
	/** When it made the last one, in milliseconds since 1970, by the clock of the file system. */
	readonly madeAt: number;
	/** Steps that it has also timed, and the seconds of all of them until the worker waited for others. */
	readonly timed: number;
	readonly ownSeconds: number;
}

/** Reads the steps that the hook in a worker counts. The file is opened each time: a worker's next process makes a new one. */
export class HookSteps {
	private readonly buffer = Buffer.alloc(3 * LENGTH);

	/** @param path see docs/channel.md */
	constructor(private readonly path: string) {}

	/** Undefined if the hook has counted none. Never throws. */
	read(): CountedSteps | undefined {
		// Most workers never have one, and an exception costs more than a look.
		if (!existsSync(this.path)) return undefined;
		try {
			const fd = openSync(this.path, READ_ONLY);
			try {
				return this.countedAt(fd);
			} finally {
				closeSync(fd);
			}
		} catch {
			return undefined;
		}
	}

	private countedAt(fd: number): CountedSteps | undefined {
		const { buffer } = this;
		const read = readSync(fd, buffer, 0, buffer.length, 0);
		const steps = this.numberAt(0, read);
		if (steps === undefined || !Number.isSafeInteger(steps)) return undefined;
		const timed = this.numberAt(LENGTH, read) ?? 0;
		const ownSeconds = (this.numberAt(2 * LENGTH, read) ?? 0) / 1e9;
		return { steps, timed, ownSeconds, madeAt: fstatSync(fd).mtimeMs };
	}

	private numberAt(from: number, read: number): number | undefined {
		const end = Math.min(from + LENGTH, read);
		const text = this.buffer.toString("latin1", from, end).trim();
		return /^\d{1,20}$/.test(text) ? Number(text) : undefined;
	}
}

/** More than this of what a worker wrote since the last look is not searched: its last lines have the newest step. */
const MOST_BYTES = 64 * 1024;
/** Progress bars return to the begin of their line. */
const LINE_ENDS = [0x0a, 0x0d];

/** The step numbers in what was written since the last look: two of them tell that a worker counts. */
export interface FoundSteps {
	readonly first: number;
	readonly last: number;
}

/** Finds step numbers in what a worker writes. Each look costs one `stat` if nothing was written. */
export class OutputSteps {
	private readonly pattern: RegExp;
	private readUntil: number;

	/** @param pattern its first group is the number */
	constructor(
		pattern: RegExp,
		private readonly file: HeldFile,
		from: number,
	) {
		this.pattern = new RegExp(pattern.source, "gi");
		this.readUntil = from;
	}

	/** Undefined if there is none in the lines written since the last look. Never throws. */
	read(): FoundSteps | undefined {
		const size = this.size();
		if (size === this.readUntil) return undefined;
		const section = this.file.section(this.readUntil, MOST_BYTES);
		if (section === undefined) return undefined;
		const { bytes, start } = section;
		const end = Math.max(...LINE_ENDS.map((one) => bytes.lastIndexOf(one)));
		// The rest of the last line may follow; a line without end is read as it is.
		if (end < 0 && bytes.length < MOST_BYTES) return undefined;
		const length = end < 0 ? bytes.length : end + 1;
		this.readUntil = start + length;
		return this.stepsIn(bytes.toString("utf8", 0, length));
	}

	private size(): number {
		try {
			return this.file.look().size;
		} catch {
			return this.readUntil;
		}
	}

	private stepsIn(text: string): FoundSteps | undefined {
		const steps = [...text.matchAll(this.pattern)]
			.map(([, digits = ""]) => Number.parseInt(digits, 10))
			.filter(Number.isSafeInteger);
		const [first, last] = [steps.at(0), steps.at(-1)];
		return first === undefined || last === undefined
			? undefined
			: { first, last };
	}
}
