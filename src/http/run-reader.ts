import type { Clock } from "../base/clock.js";
import { messageOf } from "../base/errors.js";
import { within } from "../base/within.js";
import type { Snapshot, Store, Watch } from "../store/index.js";

/** The longest time, in milliseconds, that a change with a lost notification stays unseen. */
const SEEN_WITHIN_MS = 5_000;
/** Many changes come together: the store is read at most this often, in milliseconds … */
const REST_MS = 200;
/** … and a client waits this long for it. */
const PATIENCE_MS = 1_000;

/** A run's keys as last read. */
export interface Reading {
	/** Undefined before the first read. */
	readonly snapshot: Snapshot | undefined;
	/** Why it is not current, in words; null if it is. */
	readonly problem: string | null;
	/** How long the store took to answer, in milliseconds; null before the first read. */
	readonly latencyMs: number | null;
}

export interface RunReaderOptions {
	readonly store: Pick<Store, "snapshot" | "watch">;
	/** Its timers must let the process end. */
	readonly clock: Clock;
	/** The prefix of the keys to read. */
	readonly prefix: string;
}

/**
 * Reads a run's keys on request only. After a read, the store notifies of changes, and until then nothing is read again.
 * It has no timer while no client waits, and its watch ends with the first notification.
 */
export class RunReader {
	private last: Reading = {
		snapshot: undefined,
		problem: null,
		latencyMs: null,
	};
	private readAt = Number.NEGATIVE_INFINITY;
	private isOld = true;
	private reading: Promise<void> | undefined;
	private watch: Watch | undefined;
	private closed = false;

	constructor(private readonly options: RunReaderOptions) {}

	/** Never rejects, and resolves in a bounded time. */
	async read(): Promise<Reading> {
		if (this.closed || !this.isDue()) return this.last;
		this.reading ??= this.readNow().finally(() => {
			this.reading = undefined;
		});
		const isRead = this.reading.then(() => true);
		return (await within(this.options.clock, PATIENCE_MS, isRead))
			? this.last
			: { ...this.last, problem: "the store has not answered yet" };
	}

	close(): void {
		this.closed = true;
		this.watch?.close();
	}

	private isDue(): boolean {
		const age = this.options.clock.now() - this.readAt;
		return age >= (this.isOld ? REST_MS : SEEN_WITHIN_MS);
	}

	private async readNow(): Promise<void> {
		const { store, clock, prefix } = this.options;
		const askedAt = clock.now();
		this.isOld = false;
		try {
			const snapshot = await store.snapshot([prefix], this.last.snapshot);
			const latencyMs = clock.now() - askedAt;
			this.last = { snapshot, problem: null, latencyMs };
			this.watchFrom(snapshot);
		} catch (error) {
			this.isOld = true;
			this.last = { ...this.last, problem: messageOf(error) };
		}
		this.readAt = clock.now();
	}

	private watchFrom({ revision }: Snapshot): void {
		if (this.closed || this.watch !== undefined) return;
		const { store, prefix } = this.options;
		this.watch = store.watch([prefix], revision, () => {
			this.isOld = true;
			this.watch?.close();
			this.watch = undefined;
		});
	}
}
