import type { Clock } from "../../base/clock.js";
import type { NoticeListener } from "../../notices/notice.js";
import type { RunKeys } from "../../rendezvous/records/keys.js";
import {
	DRAIN,
	type DrainRecord,
} from "../../rendezvous/records/node-orders.js";
import { informationAt } from "../../rendezvous/records/record-codec.js";
import type { Store, Watch } from "../../rendezvous/store/store.js";

/** A start is not delayed by what is seldom asked; a store that does not answer is asked again so often. In milliseconds. */
const OPEN_AFTER_MS = 1_000;

export interface DrainWatchOptions {
	readonly clock: Clock;
	readonly store: Pick<Store, "snapshot" | "watch">;
	readonly keys: RunKeys;
	readonly nodeId: string;
	/** Names this process. */
	readonly incarnation: string;
	readonly listener: Pick<NoticeListener, "noticed" | "withdrawn">;
}

/** Hears `elastic-run leave NODE --deadline T`: the command writes a key, which is a notice for this node. */
export class DrainWatch {
	private watch: Watch | undefined;
	private isClosed = false;
	private isNoticed = false;
	private cancelOpen: () => void = () => {};

	constructor(private readonly options: DrainWatchOptions) {
		this.openLater();
	}

	close(): void {
		this.isClosed = true;
		this.cancelOpen();
		this.watch?.close();
	}

	private openLater(): void {
		const { clock } = this.options;
		this.cancelOpen = clock.wakeAt(clock.now() + OPEN_AFTER_MS, () => {
			void this.look();
		});
	}

	private async look(): Promise<void> {
		const { store, keys, nodeId } = this.options;
		const key = keys.drainOf(nodeId);
		try {
			const snapshot = await store.snapshot([key]);
			if (this.isClosed) return;
			this.watch ??= store.watch([key], snapshot.revision, () => {
				void this.look();
			});
			this.obey(informationAt(DRAIN, snapshot, key, () => {}));
		} catch {
			if (!this.isClosed) this.openLater();
		}
	}

	private obey(drain: DrainRecord | undefined): void {
		const { incarnation, listener } = this.options;
		if (drain?.incarnation === incarnation) {
			const { reason, deadline } = drain;
			this.isNoticed = true;
			listener.noticed({ source: "command", reason, deadline });
		} else if (this.isNoticed) {
			this.isNoticed = false;
			listener.withdrawn({ source: "command" }, "elastic-run leave --cancel");
		}
	}
}
