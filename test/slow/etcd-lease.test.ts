import { describe, expect, test } from "vitest";
import { pause } from "../../src/base/back-off.js";
import { systemClock } from "../../src/base/clock.js";
import { LeaseGuard } from "../../src/rendezvous/member/lease-guard.js";
import { etcdForAll, etcdGet, etcdPut, startEtcd } from "../helpers/etcd.js";
import { poll } from "../helpers/etcd-gateway.js";
import {
	FEW_CONNECTIONS,
	Follower,
	holdKey,
	insist,
	openStore,
} from "../helpers/etcd-store.js";
import { waitFor } from "../helpers/processes.js";
import { startProxy } from "../helpers/tcp-proxy.js";

const PREFIX = "/elastic-run/lease/";
const KEY = `${PREFIX}a`;
const BOUND_MS = 60_000;
const TTL_MS = 2_000;

const etcd = etcdForAll();

const isKeyGone = async () => (await etcdGet(etcd(), KEY)) === undefined;

/** Resolves with when its key had gone. */
const sawKeyGo = () =>
	poll("the key's end", BOUND_MS, async () =>
		(await isKeyGone()) ? performance.now() : undefined,
	);

/** A store and a lease behind a proxy, both known to work. */
async function holdThroughProxy(ttlMs: number) {
	const proxy = await startProxy(etcd().endpoint);
	const store = await openStore(proxy.endpoint);
	return { proxy, store, ...(await holdKey(store, KEY, ttlMs)) };
}

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
		expect(store.metrics.connections).toBeGreaterThan(1);
		await proxy.resume();
		await waitFor("the old one's end", () => proxy.connections === 1);
	});

	test("is fenced, in total silence, before etcd drops its key, and reported lost once after it", async () => {
		const { proxy, store, lease, losses } = await holdThroughProxy(TTL_MS);
		let lostAt = 0;
		const guard = new LeaseGuard(systemClock, lease, () => {
			lostAt = performance.now();
		});
		guard.check();
		proxy.stall();
		const goneAt = await sawKeyGo();
		expect(lostAt).toBeGreaterThan(0);
		expect(lostAt).toBeLessThan(goneAt);
		expect(lease.expiresAt).toBeLessThan(goneAt);
		proxy.reset();
		await proxy.resume();
		await waitFor("the loss", () => losses.length > 0);
		const { requests } = store.metrics;
		await pause(systemClock, 0.75 * TTL_MS);
		expect(store.metrics.requests).toBe(requests);
		expect(losses).toHaveLength(1);
	});
});

describe("a lease whose etcd goes away", () => {
	test("lives on when etcd was killed and is back within its life (J6)", async () => {
		const server = await startEtcd();
		const store = await openStore(server.endpoint);
		const { lease, losses } = await holdKey(store, KEY, 5_000);
		const held = await etcdGet(server, KEY);
		await server.restart();
		const present = performance.now();
		await waitFor("a keepalive", () => lease.expiresAt > present + 5_000);
		expect(await etcdGet(server, KEY)).toEqual(held);
		expect(losses).toEqual([]);
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
