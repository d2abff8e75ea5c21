import {
	closeSync,
	constants,
	existsSync,
	fstatSync,
	openSync,
	readSync,
} from "node:fs";

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
