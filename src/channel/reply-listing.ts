import { type Dir, opendirSync } from "node:fs";
import { sequenceOf } from "./layout.js";

/** A limit, so that no number of files blocks the agent. Listing this many takes about a millisecond. */
const ENTRIES_PER_STEP = 1024;

/** Further replies are left for the next look: the newest count, and a worker so far ahead exceeds the allowance anyway. */
const MOST_REPLIES = 16 * 1024;

/** Lists a directory of replies, in steps. */
export class ReplyListing {
	/** The numbers of the replies found, in no order. */
	readonly sequences: number[] = [];
	/** How many files were found, replies or not. */
	entries = 0;
	private readonly directory: Dir;

	/** Throws the system's error. */
	constructor(path: string) {
		this.directory = opendirSync(path, { bufferSize: 256 });
	}

	/** Lists some more; returns whether that was the last step. Throws the system's error. */
	step(): boolean {
		for (let count = 0; count < ENTRIES_PER_STEP; count++) {
			const entry = this.directory.readSync();
			if (entry === null) return true;
			this.entries += 1;
			const sequence = sequenceOf(entry.name);
			if (sequence === undefined) continue;
			this.sequences.push(sequence);
			if (this.sequences.length === MOST_REPLIES) return true;
		}
		return false;
	}

	/** To be called once. */
	close(): void {
		this.directory.closeSync();
	}
}
