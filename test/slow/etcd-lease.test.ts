import { describe, expect, test } from "vitest";
import { pause } from "../../src/base/back-off.js";
import { systemClock } from "../../src/base/clock.js";
import {
	etcdForAll,
	etcdGet,
	leaseRevoke,
	leases,
	startEtcd,
} from "../helpers/etcd.js";
import {
	FEW_CONNECTIONS,
	Follower,
	holdKey,
	openStore,
} from "../helpers/etcd-store.js";
import { waitFor } from "../helpers/processes.js";
import { startProxy } from "../helpers/tcp-proxy.js";

const KEY = "/elastic-run/lease/a";
const PREFIX = "/elastic-run/lease/";

const etcd = etcdForAll();

const isKeyGone = async () => (await etcdGet(etcd(), KEY)) === undefined;

describe("a lease", () => {
	test("has the time to live that etcd grants, not the one that was asked for", async () => {
		const server = await startEtcd({ heartbeatMs: 100, electionMs: 1_000 });
		const store = await openStore(server.endpoint);
		const before = performance.now();
		const { lease } = await holdKey(store, KEY, 1_000);
		expect(lease.ttlMs).toBe(2_000);
		expect(lease.expiresAt).toBeGreaterThanOrEqual(before + 2_000);
		expect(lease.expiresAt).toBeLessThanOrEqual(performance.now() + 2_000);
	});

	test("lives on and on, as its expiry says, at little cost (J16)", async () => {
		const store = await openStore(etcd().endpoint);
		const { lease, losses } = await holdKey(store, KEY, 5_000);
		const follower = new Follower(store, PREFIX);
		await waitFor("the first look", () => follower.latest);
		const began = performance.now();
		const before = store.metrics.requests;
		const until = lease.expiresAt + 3_000;
		await waitFor("expiry to go on", () => lease.expiresAt > until);
		const seconds = (performance.now() - began) / 1_000;
		const requests = store.metrics.requests - before;
		// One keepalive each second; a reconnection on a busy machine costs three more.
		expect(requests).toBeLessThanOrEqual(1.5 * seconds + 3);
		expect(await isKeyGone()).toBe(false);
		expect(losses).toEqual([]);
		expect(store.metrics.connections).toBeLessThan(FEW_CONNECTIONS);
	});

	test("that is revoked asks for nothing any more, and is not reported lost", async () => {
		const store = await openStore(etcd().endpoint);
		const { lease, losses } = await holdKey(store, KEY, 2_000);
		await lease.revoke();
		expect(await isKeyGone()).toBe(true);
		const { requests } = store.metrics;
		await pause(systemClock, 1_500);
		expect(store.metrics.requests).toBe(requests);
		expect(losses).toEqual([]);
		await lease.revoke();
	});

	test("that somebody else revokes is reported lost, once", async () => {
		const store = await openStore(etcd().endpoint);
		const { lease, losses } = await holdKey(store, KEY, 2_000);
		await leaseRevoke(etcd(), lease.id);
		await waitFor("the loss", () => losses.length > 0);
		const { requests } = store.metrics;
		await pause(systemClock, 1_500);
		expect(losses).toEqual(["etcd says that the lease has ended"]);
		expect(store.metrics.requests).toBe(requests);
	});

	test("that has ended is reported lost by the write that it refuses, once", async () => {
		const store = await openStore(etcd().endpoint);
		// No keepalive comes before the write.
		const { lease, losses } = await holdKey(store, KEY, 60_000);
		await leaseRevoke(etcd(), lease.id);
		const write = () =>
			store.transaction([], [{ put: KEY, value: "1", lease: lease.id }]);
		await expect(write()).rejects.toMatchObject({
			code: "STORE_UNREACHABLE",
			message: expect.stringContaining(lease.id),
		});
		await expect(write()).rejects.toThrow("it has ended");
		expect(losses).toHaveLength(1);
	});

	test("does not end with others of its store, and shares their stream", async () => {
		const store = await openStore(etcd().endpoint);
		const all = await Promise.all(
			Array.from({ length: 100 }, (_, n) =>
				holdKey(store, `${PREFIX}many/${n}`, 9_000),
			),
		);
		const [first, ...others] = all;
		await first?.lease.revoke();
		const until = performance.now() + 13_500;
		await waitFor("the others to live on", () =>
			others.every(({ lease }) => lease.expiresAt > until),
		);
		const living = await leases(etcd());
		expect(others.every(({ lease }) => living.includes(lease.id))).toBe(true);
		expect(all.flatMap(({ losses }) => losses)).toEqual([]);
		expect(store.metrics.connections).toBeLessThan(FEW_CONNECTIONS);
	});

	test("has nothing to do with another store of its process, which is closed", async () => {
		const proxy = await startProxy(etcd().endpoint);
		const [one, other] = [
			await openStore(proxy.endpoint),
			await openStore(proxy.endpoint),
		];
		const { lease, losses } = await holdKey(one, KEY, 2_000);
		await holdKey(other, `${PREFIX}other`, 2_000);
		for (const store of [one, other]) {
			expect(store.metrics.connections).toBeGreaterThan(0);
		}
		await other.close();
		await waitFor("one connection", () => proxy.connections === 1);
		const until = lease.expiresAt;
		await waitFor("a keepalive", () => lease.expiresAt > until);
		expect(losses).toEqual([]);
	});
});
