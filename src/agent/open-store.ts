import type { Clock } from "../clock.js";
import { MemoryStore } from "../rendezvous/memory-store.js";
import type { Store } from "../rendezvous/store.js";
import type { StoreConfig } from "./configuration/agent-config.js";

/**
 * Opens the store that a configuration names. It does not wait for a server,
 * and what etcd needs is loaded for etcd only.
 * @param random a number in [0, 1), by which tries are spread
 */
export async function openStore(
	{ backend, endpoints, credentials }: StoreConfig,
	{ clock, random }: { readonly clock: Clock; readonly random: () => number },
): Promise<Store> {
	if (backend === "memory") return new MemoryStore();
	const { openEtcdStore } = await import("../rendezvous/etcd/etcd-store.js");
	return openEtcdStore({ endpoints, clock, random, ...credentials });
}
