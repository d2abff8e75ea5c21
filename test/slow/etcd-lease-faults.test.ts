import { describe, expect, test } from "vitest";
import { pause } from "../../src/base/back-off.js";
import { systemClock } from "../../src/base/clock.js";
import { LeaseGuard } from "../../src/rendezvous/member/lease-guard.js";
import { etcdForAll, etcdGet, etcdPut, startEtcd } from "../helpers/etcd.js";
import { poll } from "../helpers/etcd-gateway.js";
import { Follower, holdKey, insist, openStore } from "../helpers/etcd-store.js";
import { waitFor } from "../helpers/processes.js";
import { startProxy } from "../helpers/tcp-proxy.js";

const KEY = "/elastic-run/lease/a";
const PREFIX = "/elastic-run/lease/";
const BOUND_MS = 60_000;

const etcd = etcdForAll();

/** A store and a lease behind a proxy, both known to work. */
async function holdThroughProxy(ttlMs: number) {
	const proxy = await startProxy(etcd().endpoint);
	const store = await openStore(proxy.endpoint);
	return { proxy, store, ...(await holdKey(store, KEY, ttlMs)) };
}

const isKeyGone = async () => (await etcdGet(etcd(), KEY)) === undefined;

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

	test("lives on over many resets, with one connection at a time", async () => {
		const { proxy, lease, losses } = await holdThroughProxy(2_000);
		for (let round = 0; round < 10; round++) {
			proxy.reset();
			const present = lease.expiresAt;
			await waitFor("a keepalive", () => lease.expiresAt > present);
		}
		expect(losses).toEqual([]);
		await waitFor("one connection", () => proxy.connections === 1);
	});

	test("is fenced, in total silence, before etcd drops its key", async () => {
		const { proxy, lease } = await holdThroughProxy(5_000);
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
