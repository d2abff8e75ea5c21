import type { Clock } from "../base/clock.js";
import type { Warn } from "./once-each.js";
import { type Look, type OnReply, ReplyReader } from "./reply-reader.js";
import type { WorkerChannel } from "./worker-channel.js";

/** A channel with this many files is polled: each notification would cost more than it tells. */
const CROWD = 256;

/** The rest of a crowded channel after a look, in milliseconds, and the addition per file. */
const CROWD_REST_MS = 100;
const REST_PER_FILE_MS = 0.02;

/**
 * A change so long after another, in milliseconds, certainly gets a different time: file systems count in steps of up to
 * two seconds.
 */
const SETTLED_MS = 3_000;

/**
 * Looks at one channel, never twice at a time, in steps that let other work run. A crowded channel rests between two
 * looks, whatever notifications come.
 */
export class ReplyTurns {
	private readonly channel: WorkerChannel;
	private readonly clock: Clock;
	private readonly reader: ReplyReader;
	/** Cancels the next step or the end of a rest; undefined if there is neither. */
	private cancel: (() => void) | undefined;
	private mustLookAgain = false;
	private mustReadProgress = false;
	private isClosed = false;
	private sent = 0;
	private crowded = false;
	/** When the directory last changed, as seen by the current look. */
	private changedAt: number | undefined;
	/** The time of the last change, if no reply was there after it. */
	private quietSince: number | undefined;

	constructor(
		channel: WorkerChannel,
		clock: Clock,
		onReply: OnReply,
		warn: Warn,
	) {
		this.channel = channel;
		this.clock = clock;
		this.reader = new ReplyReader(channel.directory, onReply, warn);
	}

	/** Whether there are too many files for notifications. */
	get isCrowded(): boolean {
		return this.crowded;
	}

	/** Looks now, or after the current look or rest. */
	look(): void {
		if (this.cancel === undefined && !this.isClosed) this.step();
		else this.mustLookAgain = true;
	}

	/** Looks unless no reply can be there: reading a directory's change time costs a third of listing it. */
	lookIfChanged(): void {
		const changedAt = this.channel.changedAt();
		if (changedAt !== undefined && changedAt === this.quietSince) return;
		// A running look may have begun before that change.
		if (this.cancel === undefined) this.changedAt = changedAt;
		this.look();
	}

	/** Delivers the worker's newest step, if it is new. Older replies that the current look has not reached come first. */
	readProgress(): void {
		this.mustReadProgress = this.reader.isLooking;
		if (!this.isClosed && !this.mustReadProgress) this.reader.readProgress();
	}

	/** Delivers all replies of an ended worker at once. */
	readNow(): void {
		this.reader.readNow(this.clock.now());
		this.readProgress();
	}

	/** Stops: nothing is delivered after this call. */
	close(): void {
		this.isClosed = true;
		this.cancel?.();
		this.reader.close();
	}

	private step(): void {
		const { sent } = this.channel;
		if (sent > this.sent) this.reader.expectAnswers();
		this.sent = sent;
		// A notification during the look may come too late for it.
		this.cancel = () => {};
		const begun = this.clock.now();
		const look = this.reader.step(() => this.clock.now());
		this.cancel = undefined;
		if (this.isClosed) return;
		// Known before the look is over, which lasts in a flood: meanwhile each notification costs.
		this.crowded ||= this.reader.entries > CROWD;
		// Where the disk is slow, half of the time is left to other work, such as renewing the lease.
		const tookMs = this.clock.now() - begun;
		if (look === undefined) this.wakeIn(tookMs, () => this.step());
		else this.rest(look);
	}

	private rest({ entries, replies }: Look): void {
		if (this.mustReadProgress) this.readProgress();
		if (this.isClosed) return;
		this.noteQuiet(replies.length);
		this.crowded = entries > CROWD;
		// No notification may come for what follows.
		const mustLook = this.mustLookAgain || (this.crowded && replies.length > 0);
		if (!mustLook && !this.crowded) return;
		this.mustLookAgain = mustLook;
		const restMs = this.crowded
			? CROWD_REST_MS + Math.ceil(entries * REST_PER_FILE_MS)
			: 0;
		this.wakeIn(restMs, () => {
			if (!this.mustLookAgain) return;
			this.mustLookAgain = false;
			this.step();
		});
	}

	/** A reply that comes after the look changes the time again. */
	private noteQuiet(replies: number): void {
		const changedAt = this.changedAt;
		this.changedAt = undefined;
		if (replies > 0 || changedAt === undefined) return;
		const isSettled = this.clock.wallTime() - changedAt >= SETTLED_MS;
		if (isSettled) this.quietSince = changedAt;
	}

	private wakeIn(delayMs: number, wake: () => void): void {
		this.cancel = this.clock.wakeAt(this.clock.now() + delayMs, () => {
			this.cancel = undefined;
			wake();
		});
	}
}
