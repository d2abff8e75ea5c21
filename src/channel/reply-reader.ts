import { messageOf, systemErrorCode } from "../base/errors.js";
import { Allowance } from "./allowance.js";
import type { ReceivedReply } from "./events.js";
import { channelPaths } from "./layout.js";
import type { Warn } from "./once-each.js";
import { planLook } from "./plan-look.js";
import { ProgressReader } from "./progress-reader.js";
import { ReplyFiles } from "./reply-files.js";
import { ReplyListing } from "./reply-listing.js";

/** Receives one reply. It will not be received again. */
export type OnReply = (reply: ReceivedReply) => void;

/** A finished look at a channel. */
export interface Look {
	/** How many files there were. */
	readonly entries: number;
	/** The numbers of the replies among them, in no order. */
	readonly replies: readonly number[];
}

/** The limit on replies read and on errors passed on: per second in the long run, and at once. */
const LOOKED_AT = { perSecond: 300, atMost: 300 };
const ERRORS = { perSecond: 1, atMost: 20 };

/**
 * The agent waits for answers to its events. Each event sent allows this many more replies, so that an answer is found in
 * a flood of others.
 */
const ANSWERS = 2048;

/** Steps are short, so that a flood of replies does not block the agent: so many files, and less on a slow disk. */
const READ_PER_STEP = 64;
const DROPPED_PER_STEP = 256;
const STEP_MS = 5;

/** The limit when all must be done at once: about 50 ms. */
const STEPS_AT_ONCE = 64;
const READ_AT_ONCE = 1024;

/**
 * Takes a worker's replies out of its channel, in steps. Every file there is new, because a reply is deleted once read.
 * If there are more than the limit, the oldest are deleted unread.
 */
export class ReplyReader {
	private readonly replies: string;
	private readonly onReply: OnReply;
	private readonly warn: Warn;
	private readonly files: ReplyFiles;
	private readonly progress: ProgressReader;
	private readonly lookedAt = new Allowance(
		LOOKED_AT.perSecond,
		LOOKED_AT.atMost,
	);
	private readonly errors = new Allowance(ERRORS.perSecond, ERRORS.atMost);
	private listing: ReplyListing | undefined;
	private look: Look | undefined;
	private isClosed = false;
	private toRead: number[] = [];
	private toDrop: number[] = [];

	constructor(channelDirectory: string, onReply: OnReply, warn: Warn) {
		const { replies, progress } = channelPaths(channelDirectory);
		this.replies = replies;
		this.onReply = onReply;
		this.warn = warn;
		this.files = new ReplyFiles(replies, warn);
		this.progress = new ProgressReader(progress, warn);
	}

	/** How many files the current look has found so far; 0 between two looks. */
	get entries(): number {
		return (this.listing ?? this.look)?.entries ?? 0;
	}

	/** Whether a look is not over. */
	get isLooking(): boolean {
		return this.listing !== undefined || this.look !== undefined;
	}

	/** Raises the limit after an event was sent. */
	expectAnswers(): void {
		this.lookedAt.grant(ANSWERS);
	}

	/**
	 * Continues a look at the channel, or begins one, and delivers replies in order. Returns the look once it is over.
	 * `clock` in milliseconds.
	 */
	step(clock: () => number): Look | undefined {
		const now = clock();
		const isOver = () => clock() - now >= STEP_MS;
		if (this.look === undefined) {
			const look = this.list();
			if (look === undefined) return undefined;
			this.begin(look, now);
		}
		this.readSome(now, READ_PER_STEP, (one) => this.files.take(one), isOver);
		if (this.toRead.length > 0) return undefined;
		this.dropSome(isOver);
		return this.toDrop.length > 0 ? undefined : this.end();
	}

	/** Delivers all replies of an ended worker at once. */
	readNow(now: number): void {
		if (this.look !== undefined) this.finish(now);
		// A running listing may lack replies written since it began.
		this.listed();
		let look = this.list();
		for (let steps = 1; look === undefined && steps < STEPS_AT_ONCE; steps++) {
			look = this.list();
		}
		this.begin(look ?? this.listed(), now, READ_AT_ONCE);
		this.finish(now);
	}

	/** Delivers the newest step, if it is newer than the last reply. */
	readProgress(): void {
		const progress = this.progress.read();
		if (progress !== undefined) this.onReply(progress);
	}

	/** Stops reading. */
	close(): void {
		this.isClosed = true;
		this.toRead = [];
		this.toDrop = [];
		this.listed();
	}

	/** Lists some more; undefined until the list is complete. A removed channel has no more replies. */
	private list(): Look | undefined {
		if (this.isClosed) return this.listed();
		try {
			this.listing ??= new ReplyListing(this.replies);
			if (!this.listing.step()) return undefined;
		} catch (error) {
			if (systemErrorCode(error) !== "ENOENT") this.warn(messageOf(error));
		}
		return this.listed();
	}

	/** Ends the listing with what was found. */
	private listed(): Look {
		const { entries = 0, sequences = [] } = this.listing ?? {};
		this.listing?.close();
		this.listing = undefined;
		const replies = sequences.filter((one) => !this.files.isDone(one));
		return { entries, replies };
	}

	private begin(
		look: Look,
		now: number,
		atMost = Number.POSITIVE_INFINITY,
	): void {
		this.look = look;
		const allowed = Math.min(atMost, this.lookedAt.left(now));
		const { read, drop } = planLook(look.replies, allowed);
		this.lookedAt.take(read.length);
		this.toRead = [...read];
		this.toDrop = [...drop];
		if (drop.length === 0) return;
		this.warn(
			`${this.replies}: the worker says more than is listened to; of more than ${LOOKED_AT.perSecond} replies a second the newest are read and the others deleted. Let it report less often.`,
		);
	}

	/** Deletes no replies: the directory will soon be removed, or read once more. */
	private finish(now: number): void {
		this.readSome(now, this.toRead.length, (one) => this.files.readOnce(one));
		this.toDrop = [];
		this.end();
	}

	/** A listener may call `readNow`, so each file leaves the list before it is read. */
	private readSome(
		now: number,
		atMost: number,
		read: (sequence: number) => ReceivedReply | undefined,
		isOver = () => false,
	): void {
		for (let count = 0; count < atMost; count++) {
			if (isOver()) return;
			const sequence = this.toRead.shift();
			if (sequence === undefined) return;
			const reply = read(sequence);
			if (reply !== undefined && this.isHeard(reply, now)) this.onReply(reply);
		}
	}

	private dropSome(isOver: () => boolean): void {
		let dropped = 0;
		for (const sequence of this.toDrop) {
			if (dropped === DROPPED_PER_STEP || isOver()) break;
			this.files.delete(sequence);
			dropped += 1;
		}
		this.toDrop.splice(0, dropped);
	}

	private end(): Look {
		const look = this.look ?? { entries: 0, replies: [] };
		this.look = undefined;
		return look;
	}

	private isHeard(reply: ReceivedReply, now: number): boolean {
		if (reply.kind === "PROGRESS") return this.progress.isNews(reply);
		if (reply.kind !== "ERROR" || this.errors.takeOne(now)) return true;
		this.warn(
			`${this.replies}: the worker reports more than ${ERRORS.perSecond} error a second; the others are not shown. Its error file has the last one.`,
		);
		return false;
	}
}
