import { ArrivalIndex } from "./arrival-index.js";
import type { ConsoleTarget } from "./console-target.js";
import type { FileLook, HeldFile } from "./held-file.js";

/** How many of the last shown bytes are compared with the file, to detect that it was emptied and has grown again. */
const KNOWN_BYTES = 64;

export interface FollowedFileOptions {
	readonly file: HeldFile;
	readonly target: ConsoleTarget;
	readonly prefix: Uint8Array;
	readonly owner: string;
	/** Where to begin, in bytes. */
	readonly from: number;
	/** `Clock.now` */
	readonly now: number;
	/** `Clock.wallTime` */
	readonly wallTime: number;
	/** Receives why the time of its lines could not be written. */
	readonly onTimesError: (error: unknown) => void;
}

/** One growing file that is shown: how far it was shown, and how far it must be. */
export class FollowedFile {
	readonly target: ConsoleTarget;
	prefix: Uint8Array;
	owner: string;
	/** Everything before it was shown. */
	position: number;
	/** The size up to which nothing is left to show; -1 before the first look. */
	settledSize = -1;
	/** Bytes were skipped: the next ones begin in the middle of a line. */
	torn = false;
	/** When its last bytes were shown, or that was tried: `Clock.now`. */
	shownAt: number;
	private heldMark: number | undefined;
	private reached: (() => void)[] = [];
	private readonly file: HeldFile;
	private readonly arrivals: ArrivalIndex;
	/** The bytes just before `position`, as they were read. */
	private known: Buffer = Buffer.alloc(0);

	constructor(options: FollowedFileOptions) {
		this.file = options.file;
		this.target = options.target;
		this.prefix = options.prefix;
		this.owner = options.owner;
		this.position = options.from;
		this.shownAt = options.now;
		const { file, from, wallTime, onTimesError } = options;
		this.arrivals = new ArrivalIndex(file.path, from, wallTime, onTimesError);
	}

	/** The position up to which everything must be shown, even an unfinished last line; undefined: no flush is pending. */
	get mark(): number | undefined {
		return this.heldMark;
	}

	get path(): string {
		return this.file.path;
	}

	/**
	 * Throws if the system cannot read the file.
	 * @param wallTime `Clock.wallTime`
	 */
	look(wallTime: number): FileLook {
		const look = this.file.look();
		if (!look.isAway) this.arrivals.saw(look.size, wallTime);
		return look;
	}

	/**
	 * Resolves once the file's present content was shown, even an unfinished last line. Rejects if the system cannot read
	 * the file.
	 */
	async flush(wallTime: number): Promise<void> {
		this.heldMark = this.look(wallTime).size;
		await new Promise<void>((resolve) => this.reached.push(resolve));
	}

	/** Ends the flush: its mark was reached, or never will be. */
	settle(): void {
		this.heldMark = undefined;
		for (const resolve of this.reached.splice(0)) resolve();
	}

	/** Reads at most `limit` bytes from `position` on; returns their number. */
	read(chunk: Buffer, limit: number): number {
		const length = Math.min(chunk.length, limit);
		return this.file.read(chunk, length, this.position);
	}

	/** Records that these bytes, just after `position`, were shown. */
	advance(shown: Buffer): void {
		this.position += shown.length;
		const all = Buffer.concat([this.known, shown.subarray(-KNOWN_BYTES)]);
		this.known = all.subarray(-KNOWN_BYTES);
	}

	/** Skips everything before this position. */
	jumpTo(position: number): void {
		this.position = position;
		this.known = Buffer.alloc(0);
	}

	/** Whether the bytes shown last are no longer in the file: it was emptied, and may have grown again. */
	wasEmptied(size: number): boolean {
		if (size < this.position) return true;
		const { length } = this.known;
		if (length === 0) return false;
		const found = Buffer.alloc(length);
		this.file.read(found, length, this.position - length);
		return !found.equals(this.known);
	}
}
