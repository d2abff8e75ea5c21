import type { Clock } from "../../base/clock.js";
import type { NoticeListener } from "../../notices/notice.js";
import type { RunKeys } from "../../rendezvous/records/keys.js";
import {
	CORDON,
	type CordonRecord,
	DRAIN,
	type DrainRecord,
} from "../../rendezvous/records/node-orders.js";
import { informationAt } from "../../rendezvous/records/record-codec.js";
import type { Store, Watch } from "../../rendezvous/store/store.js";

/** A start is not delayed by what is seldom asked; a store that does not answer is asked again so often. In milliseconds. */
const OPEN_AFTER_MS = 1_000;

export interface OrderListener
	extends Pick<NoticeListener, "noticed" | "withdrawn"> {
	/** The node takes no later round; with the reason undefined, it may again. */
	cordoned(reason: string | undefined): void;
}

export interface OrderWatchOptions {
	readonly clock: Clock;
	readonly store: Pick<Store, "snapshot" | "watch">;
	readonly keys: RunKeys;
	readonly nodeId: string;
	/** Names this process. */
	readonly incarnation: string;
	/** The start of the run that it has joined. */
	readonly instance: number;
	readonly listener: OrderListener;
}

/**
 * Hears what commands tell this node through the store, each by a key: `elastic-run leave NODE --deadline T` is a notice,
 * `elastic-run cordon NODE` is for the coordinator, and only said here.
 */
export class OrderWatch {
	private watch: Watch | undefined;
	private isClosed = false;
	private isNoticed = false;
	private isCordoned = false;
	/** The newest revision that was obeyed: an answer may be overtaken by a later one. */
	private obeyed = 0;
	private cancelOpen: () => void = () => {};

	constructor(private readonly options: OrderWatchOptions) {
		this.openLater();
	}

	close(): void {
		this.isClosed = true;
		this.cancelOpen();
		this.watch?.close();
	}

	private openLater(): void {
		const { clock } = this.options;
		this.cancelOpen();
		this.cancelOpen = clock.wakeAt(clock.now() + OPEN_AFTER_MS, () => {
			void this.look();
		});
	}

	private async look(): Promise<void> {
		const { store, keys, nodeId } = this.options;
		const [drain, cordon] = [keys.drainOf(nodeId), keys.cordonOf(nodeId)];
		const both = [drain, cordon];
		try {
			const snapshot = await store.snapshot(both);
			if (this.isClosed) return;
			this.watch ??= store.watch(both, snapshot.revision, () => {
				void this.look();
			});
			if (snapshot.revision < this.obeyed) return;
			this.obeyed = snapshot.revision;
			this.obeyDrain(informationAt(DRAIN, snapshot, drain, () => {}));
			this.tellCordon(informationAt(CORDON, snapshot, cordon, () => {}));
		} catch {
			if (!this.isClosed) this.openLater();
		}
	}

	private obeyDrain(drain: DrainRecord | undefined): void {
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

	private tellCordon(cordon: CordonRecord | undefined): void {
		const { instance, listener } = this.options;
		const reason = cordon?.instance === instance ? cordon.reason : undefined;
		if ((reason !== undefined) === this.isCordoned) return;
		this.isCordoned = reason !== undefined;
		listener.cordoned(reason);
	}
}
