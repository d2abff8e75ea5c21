import {
	closeSync,
	constants,
	fstatSync,
	lstatSync,
	openSync,
	readSync,
	type Stats,
} from "node:fs";
import { attempt } from "../base/attempt.js";

/** Does not block on a pipe and does not follow a link that a worker left in place of its file. */
const READ_ONLY =
	constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The end of a file, or a part of it. */
export interface FileSection {
	readonly bytes: Buffer;
	/** Where the bytes begin in the file. */
	readonly start: number;
	/** Of the whole file, in bytes. */
	readonly size: number;
}

/** A file's state at one moment. */
export interface FileLook {
	/** In bytes; 0 if it is missing. */
	readonly size: number;
	/** When it was last written, in milliseconds since 1970. */
	readonly writtenAt: number;
	/** Somebody has removed or renamed it. */
	readonly isAway: boolean;
}

const NOTHING: FileLook = { size: 0, writtenAt: 0, isAway: false };

/**
 * A file that another process writes and this one reads. If it is held open, it can be read after it was removed or
 * renamed. Otherwise it is opened by its name for each read.
 */
export class HeldFile {
	readonly path: string;
	/** Identifies the wanted file; undefined: any file with this name. */
	private inode: string | undefined;
	private held: number | undefined;
	private onClose: () => void = () => {};

	constructor(path: string) {
		this.path = path;
	}

	/** The file behind this descriptor, and no later one of the same name. */
	static of(path: string, fd: number): HeldFile {
		const file = new HeldFile(path);
		file.inode = inodeOf(fstatSync(fd));
		return file;
	}

	/** Keeps it open from now on, if the system allows it; `onClose` is called when it is closed. */
	hold(onClose: () => void): void {
		try {
			const fd = openSync(this.path, READ_ONLY);
			this.held = fd;
			this.onClose = onClose;
			if (!this.isMeant(fstatSync(fd))) this.close();
		} catch {
			// It is read by its name as long as it has one.
			onClose();
		}
	}

	/** Throws if the system cannot tell. */
	look(): FileLook {
		const named = lstatSync(this.path, { throwIfNoEntry: false });
		if (named !== undefined && this.isMeant(named)) return lookOf(named);
		if (this.held !== undefined) {
			return { ...lookOf(fstatSync(this.held)), isAway: true };
		}
		if (this.inode === undefined) return NOTHING;
		throw new Error(
			"it was removed or renamed, and this launcher may not have so many files open that it keeps each of its workers'",
		);
	}

	/** Whether it can be read although it was removed or renamed. */
	get isAway(): boolean {
		return attempt(() => this.look().isAway) ?? false;
	}

	/** Reads into a buffer from this position on; returns the number of bytes. Throws the system's error. */
	read(into: Buffer, length: number, position: number): number {
		return this.withDescriptor((fd) => readSync(fd, into, 0, length, position));
	}

	/**
	 * The last `most` bytes of a regular file, none of them before `from` unless the file was emptied since. Undefined if
	 * it cannot be read.
	 */
	section(from: number, most: number): FileSection | undefined {
		return attempt(() =>
			this.withDescriptor((fd) => {
				const stat = fstatSync(fd);
				if (!stat.isFile()) return undefined;
				const { size } = stat;
				const start = Math.max(size < from ? 0 : from, size - most);
				const bytes = Buffer.alloc(size - start);
				const read = readSync(fd, bytes, 0, bytes.length, start);
				return { bytes: bytes.subarray(0, read), start, size };
			}),
		);
	}

	/** It can still be read by its name. */
	close(): void {
		if (this.held === undefined) return;
		closeSync(this.held);
		this.held = undefined;
		this.onClose();
	}

	private withDescriptor<T>(use: (fd: number) => T): T {
		if (this.held !== undefined) return use(this.held);
		const fd = openSync(this.path, READ_ONLY);
		try {
			return use(fd);
		} finally {
			closeSync(fd);
		}
	}

	private isMeant(stat: Stats): boolean {
		return this.inode === undefined || this.inode === inodeOf(stat);
	}
}

function inodeOf({ dev, ino }: Stats): string {
	return `${dev}:${ino}`;
}

function lookOf({ size, mtimeMs }: Stats): FileLook {
	return { size, writtenAt: mtimeMs, isAway: false };
}
