import { closeSync, constants, openSync, readSync, statSync } from "node:fs";
import type { ConsoleTarget } from "./console-target.js";

const READ_ONLY = constants.O_RDONLY | constants.O_NOFOLLOW;

export interface FollowedFileOptions {
	readonly path: string;
	readonly target: ConsoleTarget;
	readonly prefix: Uint8Array;
	/** Where to begin, in bytes. */
	readonly from: number;
	/** `Clock.now` */
	readonly now: number;
}

/**
 * One file that is shown while it grows: how far it was shown, and how far it
 * must be. It is opened for each read only, so that a thousand workers cost no
 * descriptors.
 */
export class FollowedFile {
	readonly path: string;
	readonly target: ConsoleTarget;
	prefix: Uint8Array;
	/** Everything before it was shown. */
	position: number;
	/** The size up to which there is nothing left to do but wait; -1 before the first look. */
	settledSize = -1;
	/** Bytes were skipped: the next ones begin in the middle of a line. */
	torn = false;
	/** When something of it was last shown or tried: `Clock.now`. */
	shownAt: number;
	#mark: number | undefined;
	#reached: (() => void)[] = [];

	constructor(options: FollowedFileOptions) {
		this.path = options.path;
		this.target = options.target;
		this.prefix = options.prefix;
		this.position = options.from;
		this.shownAt = options.now;
	}

	/** What must be shown, an unfinished last line too; undefined where nothing is asked. */
	get mark(): number | undefined {
		return this.#mark;
	}

	/** Its size in bytes; 0 where it is not there. */
	size(): number {
		return statSync(this.path, { throwIfNoEntry: false })?.size ?? 0;
	}

	/** All that is in the file now must be shown; resolves when it is. Rejects where the system does not give the file. */
	async flush(): Promise<void> {
		this.#mark = this.size();
		await new Promise<void>((resolve) => this.#reached.push(resolve));
	}

	/** The mark was reached, or never will be. */
	settle(): void {
		this.#mark = undefined;
		for (const resolve of this.#reached.splice(0)) resolve();
	}

	/** Reads from `position` on, at most `limit` bytes; returns how many there were. */
	read(chunk: Buffer, limit: number): number {
		const fd = openSync(this.path, READ_ONLY);
		try {
			const length = Math.min(chunk.length, limit);
			return readSync(fd, chunk, 0, length, this.position);
		} finally {
			closeSync(fd);
		}
	}
}
