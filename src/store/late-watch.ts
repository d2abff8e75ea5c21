import type { Clock } from "../base/clock.js";
import type { Snapshot, Store, Watch } from "./store.js";

/** A start is not delayed by what is seldom asked; a store that does not answer is asked again so often. In milliseconds. */
const OPEN_AFTER_MS = 1_000;

interface LateWatchOptions {
	readonly clock: Clock;
	readonly store: Pick<Store, "snapshot" | "watch">;
	/** As in `Store.snapshot`. */
	readonly selectors: readonly string[];
	/** Called with what is there at first and after each change, never with an older state after a newer one. */
	readonly onLook: (snapshot: Snapshot) => void;
}

/** Follows keys that are seldom written, from a second after the start on. */
export class LateWatch {
	private watch: Watch | undefined;
	private isClosed = false;
	/** The newest revision that was shown: an answer may be overtaken by a later one. */
	private shown = 0;
	private cancelOpen: () => void = () => {};

	constructor(private readonly options: LateWatchOptions) {
		this.lookLater();
	}

	close(): void {
		this.isClosed = true;
		this.cancelOpen();
		this.watch?.close();
	}

	/** Shows what is there now. */
	async look(): Promise<void> {
		const { store, selectors, onLook } = this.options;
		const snapshot = await store.snapshot(selectors).catch(() => undefined);
		if (this.isClosed) return;
		if (snapshot === undefined) return this.lookLater();
		this.watch ??= store.watch(selectors, snapshot.revision, () => {
			void this.look();
		});
		if (snapshot.revision < this.shown) return;
		this.shown = snapshot.revision;
		onLook(snapshot);
	}

	private lookLater(): void {
		const { clock } = this.options;
		this.cancelOpen();
		this.cancelOpen = clock.wakeAt(clock.now() + OPEN_AFTER_MS, () => {
			void this.look();
		});
	}
}
