import type { Clock } from "../../clock.js";
import { messageOf } from "../../errors.js";
import type { Snapshot, Store, Watch } from "../../rendezvous/store.js";
import { within } from "../within.js";

/** A change whose hint got lost is seen after this long, in milliseconds. */
const SEEN_WITHIN_MS = 5_000;
/** Many changes come together: the store is asked this seldom, in milliseconds … */
const REST_MS = 200;
/** … and who asks here waits so long for it. */
const PATIENCE_MS = 1_000;

/** A run's keys as they were read last. */
export interface Reading {
	/** Undefined: never yet. */
	readonly snapshot: Snapshot | undefined;
	/** Why it is not of now, in words; null: it is. */
	readonly problem: string | null;
	/** How long the store took for it, in milliseconds; null: never yet. */
	readonly latencyMs: number | null;
}

export interface RunReaderOptions {
	readonly store: Pick<Store, "snapshot" | "watch">;
	/** Its timers must let the process end. */
	readonly clock: Clock;
	/** What is below it is read. */
	readonly prefix: string;
}

/**
 * Reads a run's keys for those who ask, and only then. Once they were read, the
 * store says when they change, and until it does nobody reads them again. It has
 * no timer while nobody waits, and no watch but one that ends with its first hint.
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
