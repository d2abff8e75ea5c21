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
import { LateWatch } from "../../rendezvous/store/late-watch.js";
import type { Store } from "../../rendezvous/store/store.js";

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
	private readonly watch: LateWatch;
	private isNoticed = false;
	private isCordoned = false;

	constructor(private readonly options: OrderWatchOptions) {
		const { keys, nodeId } = options;
		const [drain, cordon] = [keys.drainOf(nodeId), keys.cordonOf(nodeId)];
		this.watch = new LateWatch({
			...options,
			selectors: [drain, cordon],
			onLook: (snapshot) => {
				this.obeyDrain(informationAt(DRAIN, snapshot, drain, () => {}));
				this.tellCordon(informationAt(CORDON, snapshot, cordon, () => {}));
			},
		});
	}

	close(): void {
		this.watch.close();
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
