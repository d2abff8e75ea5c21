import type { Clock } from "../base/clock.js";
import type { LedgerRecord } from "../model/index.js";

/** The least time between two writes in a round, in milliseconds … */
const EVERY_MS = 10_000;
/** … and how long a change waits at least. */
const AFTER_MS = 1_000;

export interface LedgerWriterOptions {
	readonly clock: Clock;
	/** Never rejects. */
	readonly write: (record: LedgerRecord) => Promise<void>;
}

type Make = () => LedgerRecord;

/** Writes a node's records seldom, each at the latest when its round and the agent are over. */
export class LedgerWriter {
	private newest: { readonly round: number; readonly make: Make } | undefined;
	/** Complete records of rounds that are over. */
	private over: readonly LedgerRecord[] = [];
	private writtenAt = Number.NEGATIVE_INFINITY;
	private dueAt = Number.POSITIVE_INFINITY;
	private cancelTimer: () => void = () => {};
	private writing: Promise<unknown> = Promise.resolve();

	constructor(private readonly options: LedgerWriterOptions) {}

	/**
	 * Takes the newest state of a record.
	 * @param round whose record it is
	 * @param withinMs writes it within this time; default: seldom
	 */
	offer(round: number, make: Make, withinMs?: number): void {
		const before = this.newest;
		if (before !== undefined && before.round !== round) {
			this.over = [...this.over, before.make()];
		}
		this.newest = { round, make };
		const now = this.options.clock.now();
		const usual = Math.max(now + AFTER_MS, this.writtenAt + EVERY_MS);
		this.writeAt(withinMs === undefined ? usual : now + withinMs);
	}

	/** Writes all that is not written yet. */
	async close(): Promise<void> {
		this.writeNow();
		await this.writing;
	}

	private writeAt(at: number): void {
		if (at >= this.dueAt) return;
		const { clock } = this.options;
		this.cancelTimer();
		this.dueAt = at;
		this.cancelTimer = clock.wakeAt(at, () => this.writeNow());
	}

	private writeNow(): void {
		this.cancelTimer();
		this.dueAt = Number.POSITIVE_INFINITY;
		const { newest, over } = this;
		if (newest === undefined) return;
		this.newest = undefined;
		this.over = [];
		this.writtenAt = this.options.clock.now();
		for (const record of [...over, newest.make()]) this.write(record);
	}

	/** One after the other, so that an older state never replaces a newer one. */
	private write(record: LedgerRecord): void {
		this.writing = this.writing.then(() => this.options.write(record));
	}
}
