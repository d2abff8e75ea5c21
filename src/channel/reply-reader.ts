import { type Dir, opendirSync, statSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../base/clock.js";
import { messageOf, systemErrorCode } from "../base/errors.js";
import { Allowance } from "./allowance.js";
import { decodeReply } from "./codec.js";
import type { ReceivedReply } from "./events.js";
import { channelPaths, messageFileName, sequenceOf } from "./layout.js";
import { isPassing, readMessage } from "./message-file.js";
import type { Warn } from "./problems.js";

/** A step with so many replies after it is dropped. The library never writes so many at a time. */
const MOST_STEPS = 1024;

/** The errors that are passed on: per second in the long run, and at once. */
const ERRORS = { perSecond: 1, atMost: 20 };

/** What is not in a list waits for the next one: a longer list would need much memory. */
const LONGEST_LIST = 16 * 1024;

/** In a directory with more files each notification costs more than it says. */
const CROWD = 256;

/** How long reading at once may take, in milliseconds. */
const AT_ONCE_MS = 50;

/**
 * Takes a worker's replies out of its channel: each is deleted when it is read. If the worker writes faster than this, its
 * oldest steps are dropped, and nothing else.
 */
export class ReplyReader {
	/** Whether there are too many files for notifications. */
	isCrowded = false;
	private readonly replies: string;
	private readonly progress: string;
	private readonly errors = new Allowance(ERRORS.perSecond, ERRORS.atMost);
	private listing: Dir | undefined;
	private entries = 0;
	private listed: number[] = [];
	/** Descending. */
	private waiting: number[] = [];
	/** Those that cannot be deleted, and must not be delivered again. */
	private readonly done = new Set<number>();
	/** The version of progress.json that was read, its time, and the time of the newest step among the replies. */
	private progressVersion: string | undefined;
	private progressAt = Number.NEGATIVE_INFINITY;
	private repliedAt = Number.NEGATIVE_INFINITY;

	constructor(
		directory: string,
		private readonly clock: Clock,
		private readonly onReply: (reply: ReceivedReply) => void,
		private readonly warn: Warn,
	) {
		const { replies, progress } = channelPaths(directory);
		this.replies = replies;
		this.progress = progress;
	}

	/**
	 * Delivers in order what lies there, and then the newest step. Returns false if `isOver` stopped it; then the next call
	 * goes on.
	 */
	read(isOver: () => boolean): boolean {
		if (this.waiting.length === 0 && !this.list(isOver)) return false;
		return this.deliver(isOver);
	}

	/** Delivers what is listed, and the newest step; false if `isOver` stopped it. */
	private deliver(isOver: () => boolean): boolean {
		while (this.waiting.length > 0) {
			if (isOver()) return false;
			// A listener may read this channel too: the reply is off the list, and deleted, before it is delivered.
			const reply = this.take(this.waiting.pop() ?? 0);
			if (reply !== undefined && this.isWanted(reply)) this.onReply(reply);
		}
		this.readProgress();
		return true;
	}

	/** Delivers at once what lies there now, or the newest of it. */
	readNow(): void {
		// A list that was begun may lack replies.
		this.endList();
		if (!this.list(isOverAfter(AT_ONCE_MS, this.clock))) this.endList();
		this.waiting.splice(MOST_STEPS);
		this.deliver(isOverAfter(AT_ONCE_MS, this.clock));
	}

	/** Stops reading. */
	close(): void {
		this.endList();
		this.waiting = [];
	}

	/** Returns whether the list is complete. A removed channel has no more replies. */
	private list(isOver: () => boolean): boolean {
		try {
			this.listing ??= opendirSync(this.replies, { bufferSize: 256 });
			while (this.listed.length < LONGEST_LIST) {
				const entry = this.listing.readSync();
				if (entry === null) break;
				this.entries += 1;
				// Known before the list is complete: meanwhile each notification costs.
				this.isCrowded ||= this.entries > CROWD;
				const sequence = sequenceOf(entry.name) ?? 0;
				if (sequence > 0 && !this.done.has(sequence))
					this.listed.push(sequence);
				if (isOver()) return false;
			}
		} catch (error) {
			if (systemErrorCode(error) !== "ENOENT") this.warn(messageOf(error));
		}
		this.isCrowded = this.entries > CROWD;
		this.endList();
		return true;
	}

	private endList(): void {
		this.listing?.closeSync();
		this.listing = undefined;
		this.entries = 0;
		this.waiting = this.listed.sort((a, b) => b - a);
		this.listed = [];
	}

	/** Reads and deletes a reply; undefined if it is invalid or gone. */
	private take(sequence: number): ReceivedReply | undefined {
		const path = join(this.replies, messageFileName(sequence));
		const reply = this.decode(path);
		if (reply === "unavailable") return undefined;
		try {
			unlinkSync(path);
		} catch (error) {
			if (systemErrorCode(error) !== "ENOENT") {
				this.done.add(sequence);
				this.report(path, "cannot be deleted", error);
			}
		}
		return reply;
	}

	/** The reply in a file; "unavailable" if the system cannot read it now. */
	private decode(path: string): ReceivedReply | undefined | "unavailable" {
		try {
			const file = readMessage(path);
			return file && decodeReply(file.text);
		} catch (error) {
			this.report(path, "cannot be read as a reply", error);
			return isPassing(error) ? "unavailable" : undefined;
		}
	}

	private isWanted(reply: ReceivedReply): boolean {
		if (reply.kind === "ERROR") {
			if (this.errors.takeOne(this.clock.now())) return true;
			this.warn(
				`${this.replies}: the worker reports more than ${ERRORS.perSecond} error a second; the others are not shown. Its error file has the last one.`,
			);
			return false;
		}
		if (reply.kind !== "PROGRESS") return true;
		this.repliedAt = Math.max(this.repliedAt, reply.timestamp);
		if (this.waiting.length < MOST_STEPS) {
			return reply.timestamp >= this.progressAt;
		}
		this.warn(
			`${this.replies}: the worker reports faster than its replies are read; while more than ${MOST_STEPS} wait, the oldest steps are dropped. Let it report less often.`,
		);
		return false;
	}

	/** Delivers the step in progress.json, if it is news. Costs one `stat` if nothing has changed. */
	private readProgress(): void {
		const version = this.versionOfProgress();
		if (version === this.progressVersion) return;
		this.progressVersion = version;
		const reply = this.decode(this.progress);
		if (typeof reply !== "object" || reply.kind !== "PROGRESS") return;
		this.progressAt = reply.timestamp;
		if (reply.timestamp >= this.repliedAt) this.onReply(reply);
	}

	/** Undefined if there is none, or the worker has shut its directory. */
	private versionOfProgress(): string | undefined {
		try {
			const found = statSync(this.progress, { throwIfNoEntry: false });
			return found && `${found.ino} ${found.mtimeMs} ${found.size}`;
		} catch (error) {
			this.report(this.progress, "cannot be read as a reply", error);
			return undefined;
		}
	}

	/** A worker may leave any number of bad files: each channel reports only the first of each kind. */
	private report(path: string, what: string, error: unknown): void {
		// The message may quote the file or its path.
		const name = error instanceof Error ? error.name : "";
		const kind = systemErrorCode(error) ?? name;
		this.warn(
			`${path} ${what}: ${messageOf(error)}.`,
			`${this.replies} ${what}: ${kind}`,
		);
	}
}

/** Says whether so much time has passed since this call. */
export function isOverAfter(ms: number, clock: Clock): () => boolean {
	const begun = clock.now();
	return () => clock.now() - begun >= ms;
}
