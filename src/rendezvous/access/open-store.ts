import type { Clock } from "../../base/clock.js";
import type { StoreConfig } from "../../config/index.js";
import { MemoryStore, type Store } from "../../store/index.js";

/**
 * Opens the configured store. It waits for no server, and loads etcd's packages only for etcd.
 * @param random a number in [0, 1) that spreads the tries
 */
export async function openStore(
	{ backend, endpoints, credentials, leaseTtlMs }: StoreConfig,
	{
		clock,
		random,
		onUnasked,
	}: {
		readonly clock: Clock;
		readonly random: () => number;
		/** Called when a store does not ask for the login that it is given. */
		readonly onUnasked?: () => void;
	},
): Promise<Store> {
	if (backend === "memory") return new MemoryStore();
	const { openEtcdStore } = await import("../../store/etcd/etcd-store.js");
	return openEtcdStore({
		endpoints,
		clock,
		random,
		leaseTtlMs,
		onUnasked,
		...credentials,
	});
}
