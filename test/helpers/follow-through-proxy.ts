import { type EtcdApi, type EtcdNode, etcdPut } from "./etcd.js";
import { Follower, openStore } from "./etcd-store.js";
import { waitFor } from "./processes.js";
import { startProxy } from "./tcp-proxy.js";

let prefixes = 0;

/** One that no other test of this process has. */
export function newPrefix(): string {
	prefixes += 1;
	return `/elastic-run/follow-${process.pid}-${prefixes}/`;
}

/** Somebody behind a proxy who follows a prefix, and has seen what is there. */
export async function followThroughProxy(etcd: EtcdNode) {
	const proxy = await startProxy(etcd.endpoint);
	const store = await openStore(proxy.endpoint);
	const prefix = newPrefix();
	const follower = new Follower(store, prefix);
	await expectToSee(etcd, follower, `${prefix}first`, "1");
	return { proxy, store, prefix, follower };
}

/** Writes a key, past the proxy, and waits until who follows has seen it. */
export async function expectToSee(
	etcd: EtcdApi,
	follower: Follower,
	key: string,
	value: string,
): Promise<void> {
	await etcdPut(etcd, key, value);
	await waitFor(`${key}=${value}`, () => follower.valueOf(key) === value);
}
