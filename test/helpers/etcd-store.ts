import { onTestFinished } from "vitest";
import { backOffMs, isUnreachable, pause } from "../../src/base/back-off.js";
import { systemClock } from "../../src/base/clock.js";
import {
	type EtcdStore,
	type EtcdStoreOptions,
	openEtcdStore,
} from "../../src/store/etcd/etcd-store.js";
import type { Lease, Snapshot, Store } from "../../src/store/store.js";

/** Where one connection does it, a busy machine that is late with an answer may cost another. */
export const FEW_CONNECTIONS = 4;

/** A store of this process; it is closed with the test. */
export async function openStore(
	endpoints: string | readonly string[],
	options: Partial<EtcdStoreOptions> = {},
): Promise<EtcdStore> {
	const store = await openEtcdStore({
		endpoints: [endpoints].flat(),
		clock: systemClock,
		random: Math.random,
		...options,
	});
	onTestFinished(() => store.close());
	return store;
}

/** Tries again while the store cannot be reached, as every caller of a store does. */
export async function insist<Value>(
	work: () => Promise<Value>,
): Promise<Value> {
	for (let failures = 1; ; failures++) {
		try {
			return await work();
		} catch (error) {
			if (!isUnreachable(error) || failures > 100) throw error;
			await pause(systemClock, backOffMs(failures, Math.random()));
		}
	}
}

/** A lease whose losses are counted, and which holds a key. */
export async function holdKey(
	store: Store,
	key: string,
	ttlMs: number,
): Promise<{ lease: Lease; losses: readonly string[] }> {
	const losses: string[] = [];
	const lease = await insist(() =>
		store.openLease(ttlMs, { onLost: (reason) => losses.push(reason) }),
	);
	await insist(() =>
		store.transaction([], [{ put: key, value: "held", lease: lease.id }]),
	);
	return { lease, losses };
}

/** What somebody sees who looks when he is hinted, and at no other time. */
export class Follower {
	hints = 0;
	latest: Snapshot | undefined;
	private isLooking = false;
	private isHinted = false;
	private isClosed = false;

	constructor(
		private readonly store: Store,
		private readonly selector: string,
	) {
		const watch = store.watch([selector], 0, () => {
			this.hints += 1;
			this.isHinted = true;
			void this.look();
		});
		onTestFinished(() => {
			this.isClosed = true;
			watch.close();
		});
	}

	valueOf(key: string): string | undefined {
		return this.latest?.entries.get(key)?.value;
	}

	private async look(): Promise<void> {
		if (this.isLooking) return;
		this.isLooking = true;
		while (this.isHinted) {
			this.isHinted = false;
			this.latest = await insist(async () =>
				this.isClosed ? this.latest : this.store.snapshot([this.selector]),
			);
		}
		this.isLooking = false;
	}
}
