import {
	closeSync,
	constants,
	existsSync,
	fstatSync,
	openSync,
	readSync,
} from "node:fs";
import { attempt } from "../base/attempt.js";
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

/** A small file of the hook. It is opened each time: a worker's next process makes a new one. */
class HookFile {
	private readonly buffer: Buffer;

	/** @param length how much of it is read, in bytes */
	constructor(
		private readonly path: string,
		length: number,
	) {
		this.buffer = Buffer.alloc(length);
	}

	/** Its text, and when it was written, in milliseconds since 1970; undefined if it is not there. Never throws. */
	read(): { readonly text: string; readonly writtenAt: number } | undefined {
		// Most workers never have one, and an exception costs more than a look.
		if (!existsSync(this.path)) return undefined;
		try {
			const fd = openSync(this.path, READ_ONLY);
			try {
				const { length } = this.buffer;
				const read = readSync(fd, this.buffer, 0, length, 0);
				const text = this.buffer.toString("utf8", 0, read);
				return { text, writtenAt: fstatSync(fd).mtimeMs };
			} finally {
				closeSync(fd);
			}
		} catch {
			return undefined;
		}
	}
}

function numberIn(text: string, index: number): number | undefined {
	const digits = text.slice(index * LENGTH, (index + 1) * LENGTH).trim();
	return /^\d{1,20}$/.test(digits) ? Number(digits) : undefined;
}

/** Reads the steps that the hook in a worker counts. */
export class HookSteps {
	private readonly file: HookFile;

	/** @param path see docs/channel.md */
	constructor(path: string) {
		this.file = new HookFile(path, 3 * LENGTH);
	}

	/** Undefined if the hook has counted none. Never throws. */
	read(): CountedSteps | undefined {
		const { text, writtenAt: madeAt } = this.file.read() ?? {};
		if (text === undefined || madeAt === undefined) return undefined;
		const steps = numberIn(text, 0);
		if (steps === undefined || !Number.isSafeInteger(steps)) return undefined;
		const timed = numberIn(text, 1) ?? 0;
		const ownSeconds = (numberIn(text, 2) ?? 0) / 1e9;
		return { steps, timed, ownSeconds, madeAt };
	}
}

/** Of the words in the hook's file, in bytes. */
const PHASE_WORDS = 40;

/** What a worker is busy with by its hook. Times are milliseconds since 1970. */
export interface ToldPhase {
	/** "saves a checkpoint". */
	readonly what: string;
	readonly since: number;
	/** From then on it may hang. */
	readonly until: number;
}

/** Reads what the hook in a worker says that it is busy with. */
export class HookPhase {
	private readonly file: HookFile;

	/** @param path see docs/channel.md */
	constructor(path: string) {
		this.file = new HookFile(path, 2 * LENGTH + PHASE_WORDS);
	}

	/** Undefined if it is busy with nothing else than steps. Never throws. */
	read(): ToldPhase | undefined {
		const { text = "", writtenAt = 0 } = this.file.read() ?? {};
		const [since, seconds] = [numberIn(text, 0), numberIn(text, 1)];
		const what = withoutControls(text.slice(2 * LENGTH));
		if (since === undefined || seconds === undefined || what === "") {
			return undefined;
		}
		return { what, since, until: writtenAt + seconds * 1_000 };
	}
}

/** Words of a worker, which may become part of a record and of a line. */
export function withoutControls(text: string): string {
	return text.replace(/\p{Cc}+/gu, " ").trim();
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
		return attempt(() => this.file.look().size) ?? this.readUntil;
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
