import { retry } from "../base/back-off.js";
import type { Clock } from "../base/clock.js";
import type { StoreConfig } from "../config/index.js";
import { openStore } from "../rendezvous/index.js";
import type { Store } from "../store/index.js";
import { patienceWith } from "./found-runs.js";

export interface OpenedStore {
	readonly store: Store;
	/** Makes an attempt again while the store does not answer, for as long as a command waits for it. */
	again<Value>(attempt: () => Promise<Value>): Promise<Value>;
}

/** Opens a run's store for a command's work. */
export async function inStore<Result>(
	config: StoreConfig,
	clock: Clock,
	work: (opened: OpenedStore) => Promise<Result>,
): Promise<Result> {
	// No other client retries at the same moment, so there is nothing to spread.
	const random = () => 0;
	const store = await openStore(config, { clock, random });
	try {
		return await work({
			store,
			again(attempt) {
				const until = clock.now() + patienceWith(config);
				return retry({ clock, random, until }, attempt);
			},
		});
	} finally {
		await store.close();
	}
}
