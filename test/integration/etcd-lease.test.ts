import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/clock.js";
import { pause } from "../../src/rendezvous/back-off.js";
import { LeaseGuard } from "../../src/rendezvous/lease-guard.js";
import {
	etcdForAll,
	etcdGet,
	etcdPut,
	leaseRevoke,
	leases,
	startEtcd,
} from "../helpers/etcd.js";
import { poll } from "../helpers/etcd-gateway.js";
import { Follower, holdKey, insist, openStore } from "../helpers/etcd-store.js";
import { waitFor } from "../helpers/processes.js";
import { startProxy } from "../helpers/tcp-proxy.js";

const KEY = "/elastic-run/lease/a";
const PREFIX = "/elastic-run/lease/";
const BOUND_MS = 30_000;

const etcd = etcdForAll();

/** A store and a lease behind a proxy, both known to work. */
async function holdThroughProxy(ttlMs: number) {
	const proxy = await startProxy(etcd().endpoint);
	const store = await openStore(proxy.endpoint);
	return { proxy, store, ...(await holdKey(store, KEY, ttlMs)) };
}

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
		// One each second; the second stream's beginning is in it too.
		expect(requests).toBeLessThanOrEqual(1.25 * seconds + 1);
		expect(await isKeyGone()).toBe(false);
		expect(losses).toEqual([]);
		expect(store.metrics.connections).toBe(1);
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
				holdKey(store, `${PREFIX}many/${n}`, 3_000),
			),
		);
		const [first, ...others] = all;
		await first?.lease.revoke();
		const until = performance.now() + 4_500;
		await waitFor("the others to live on", () =>
			others.every(({ lease }) => lease.expiresAt > until),
		);
		const living = await leases(etcd());
		expect(others.every(({ lease }) => living.includes(lease.id))).toBe(true);
		expect(all.flatMap(({ losses }) => losses)).toEqual([]);
		expect(store.metrics.connections).toBe(1);
	});
});

describe("a lease whose connection goes bad", () => {
	test("lives on over a new one where the old one is a black hole, and its watch hears again (T5)", async () => {
		const { proxy, store, lease, losses } = await holdThroughProxy(5_000);
		const follower = new Follower(store, PREFIX);
		await waitFor("the first look", () => follower.latest);
		proxy.stallOld();
		const { modRevision } = (await etcdGet(etcd(), KEY)) ?? {};
		await etcdPut(etcd(), `${PREFIX}missed`, "1");
		await waitFor("the missed change", () =>
			follower.valueOf(`${PREFIX}missed`),
		);
		const until = lease.expiresAt + 5_000;
		await waitFor("expiry to go on", () => lease.expiresAt > until);
		expect((await etcdGet(etcd(), KEY))?.modRevision).toBe(modRevision);
		expect(losses).toEqual([]);
		expect(store.metrics.connections).toBe(2);
		await proxy.resume();
		await waitFor("the old one's end", () => proxy.connections === 1);
	});

	test("lives on over many resets, with one connection at a time", async () => {
		const { proxy, store, lease, losses } = await holdThroughProxy(2_000);
		for (let round = 0; round < 10; round++) {
			proxy.reset();
			const present = lease.expiresAt;
			await waitFor("a keepalive", () => lease.expiresAt > present);
		}
		expect(losses).toEqual([]);
		expect(proxy.connections).toBe(1);
		expect(store.metrics.connections).toBeLessThanOrEqual(proxy.accepted);
	});

	test("is fenced, in total silence, before etcd drops its key", async () => {
		const { proxy, lease } = await holdThroughProxy(3_000);
		let lostAt = 0;
		const guard = new LeaseGuard(systemClock, lease, () => {
			lostAt = performance.now();
		});
		guard.check();
		proxy.stall();
		const goneAt = await poll("the key's end", BOUND_MS, async () =>
			(await isKeyGone()) ? performance.now() : undefined,
		);
		expect(lostAt).toBeGreaterThan(0);
		expect(lostAt).toBeLessThan(goneAt);
		expect(lease.expiresAt).toBeLessThan(goneAt);
	});

	test("is reported lost once, and kept alive once, after a silence longer than its life and a reset", async () => {
		const { proxy, store, lease, losses } = await holdThroughProxy(2_000);
		const other = await holdKey(
			await openStore(etcd().endpoint),
			`${PREFIX}b`,
			2_000,
		);
		proxy.stall();
		await poll(
			"the key's end",
			BOUND_MS,
			async () => (await isKeyGone()) || undefined,
		);
		proxy.reset();
		await proxy.resume();
		await waitFor("the loss", () => losses.length > 0);
		expect(lease.expiresAt).toBeLessThan(performance.now());
		const { requests } = store.metrics;
		await pause(systemClock, 1_500);
		expect(store.metrics.requests).toBe(requests);
		expect(losses).toHaveLength(1);
		expect(other.losses).toEqual([]);
	});
});

describe("a lease whose etcd goes away", () => {
	test("lives on when etcd was killed and is back within its life (J6)", async () => {
		const server = await startEtcd();
		const store = await openStore(server.endpoint);
		const { lease, losses } = await holdKey(store, KEY, 5_000);
		const held = await etcdGet(server, KEY);
		for (let round = 0; round < 2; round++) {
			await server.restart();
			const present = performance.now();
			await waitFor("a keepalive", () => lease.expiresAt > present + 5_000);
		}
		expect(await etcdGet(server, KEY)).toEqual(held);
		expect(losses).toEqual([]);
	});

	test("is either alive or reported lost after etcd was frozen longer than its life", async () => {
		const server = await startEtcd();
		const store = await openStore(server.endpoint);
		const { lease, losses } = await holdKey(store, KEY, 2_000);
		server.suspend();
		await waitFor(
			"its time to be over",
			() => lease.expiresAt < performance.now(),
		);
		server.resume();
		await waitFor(
			"one or the other",
			() => losses.length > 0 || lease.expiresAt > performance.now(),
		);
		const entry = await etcdGet(server, KEY);
		expect(entry === undefined).toBe(losses.length === 1);
	});

	test("is reported lost when etcd comes back without its data", async () => {
		const server = await startEtcd();
		const store = await openStore(server.endpoint);
		const { losses } = await holdKey(store, KEY, 10_000);
		await server.wipe();
		await waitFor("the loss", () => losses.length > 0);
		expect(await insist(() => store.snapshot([PREFIX]))).toMatchObject({
			entries: new Map(),
		});
	});
});
