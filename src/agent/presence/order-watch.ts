import type { Clock } from "../../base/clock.js";
import type { NoticeListener } from "../../model/index.js";
import {
	DRAIN,
	type DrainRecord,
	informationAt,
	type RunKeys,
} from "../../rendezvous/index.js";
import { LateWatch, type Store } from "../../store/index.js";

export interface OrderWatchOptions {
	readonly clock: Clock;
	readonly store: Pick<Store, "snapshot" | "watch">;
	readonly keys: RunKeys;
	readonly nodeId: string;
	/** Names this process. */
	readonly incarnation: string;
	readonly listener: Pick<NoticeListener, "noticed" | "withdrawn">;
}

/** Turns `elastic-run leave NODE --deadline T`, which reaches this node through a key of the store, into a notice. */
export class OrderWatch {
	private readonly watch: LateWatch;
	private isNoticed = false;

	constructor(private readonly options: OrderWatchOptions) {
		const { keys, nodeId } = options;
		const drain = keys.drainOf(nodeId);
		this.watch = new LateWatch({
			...options,
			selectors: [drain],
			onLook: (snapshot) => {
				this.obeyDrain(informationAt(DRAIN, snapshot, drain, () => {}));
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
}
