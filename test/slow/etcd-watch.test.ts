import { describe, expect, test } from "vitest";
import { pause } from "../../src/base/back-off.js";
import { systemClock } from "../../src/base/clock.js";
import {
	etcdCompact,
	etcdForAll,
	etcdPut,
	etcdRange,
	startEtcd,
} from "../helpers/etcd.js";
import { Follower, insist, openStore } from "../helpers/etcd-store.js";
import {
	expectToSee,
	followThroughProxy,
	newPrefix,
} from "../helpers/follow-through-proxy.js";
import { waitFor } from "../helpers/processes.js";
import { startProxy } from "../helpers/tcp-proxy.js";

const etcd = etcdForAll();

describe("a watch", () => {
	test("that began while nobody answered tells as soon as somebody does", async () => {
		const proxy = await startProxy(etcd().endpoint);
		proxy.stall();
		const store = await openStore(proxy.endpoint);
		const prefix = newPrefix();
		const follower = new Follower(store, prefix);
		await waitFor("a second connection", () => proxy.accepted > 1);
		await proxy.resume();
		await expectToSee(etcd(), follower, `${prefix}a`, "1");
		await waitFor("one connection", () => proxy.connections === 1);
	});

	test("hears again where no lease tells that its connection is a black hole", async () => {
		const { proxy, prefix, follower } = await followThroughProxy(etcd());
		proxy.stallOld();
		await expectToSee(etcd(), follower, `${prefix}a`, "1");
	});

	test("misses no change in the end over a storm of resets under writes (J16)", async () => {
		const { proxy, prefix, follower } = await followThroughProxy(etcd());
		let isStorm = true;
		let written = 0;
		const writing = (async () => {
			for (; isStorm; written++) {
				await etcdPut(etcd(), `${prefix}${written % 50}`, String(written));
			}
		})();
		for (let resets = 0; resets < 20; resets++) {
			await pause(systemClock, 50 + Math.random() * 200);
			proxy.reset();
		}
		isStorm = false;
		await writing;
		const last = await etcdRange(etcd(), prefix);
		await waitFor("the last picture", () =>
			last.every(({ key, value }) => follower.valueOf(key) === value),
		);
		expect(written).toBeGreaterThan(10);
		await waitFor("one connection", () => proxy.connections === 1);
	});

	test("misses no change in the end over kills of etcd under writes (J6)", async () => {
		const server = await startEtcd();
		const store = await openStore(server.endpoint);
		const prefix = newPrefix();
		const follower = new Follower(store, prefix);
		const writer = await openStore(server.endpoint);
		let isOver = false;
		let written = 0;
		const writing = (async () => {
			for (; !isOver; written++) {
				const put = `${prefix}${written % 50}`;
				await insist(() =>
					writer.transaction([], [{ put, value: String(written) }]),
				);
			}
		})();
		for (let kills = 0; kills < 3; kills++) {
			const before = written;
			await waitFor("writes", () => written > before + 20);
			await server.restart();
		}
		isOver = true;
		await writing;
		const last = await etcdRange(server, prefix);
		await waitFor("the last picture", () =>
			last.every(({ key, value }) => follower.valueOf(key) === value),
		);
		expect(last.length).toBe(50);
	});

	test("sees what was compacted away, and more than 4 MB, that came while it was cut off", async () => {
		const { proxy, prefix, follower } = await followThroughProxy(etcd());
		const value = "x".repeat(1_000_000);
		const keys = Array.from({ length: 6 }, (_, n) => `${prefix}large/${n}`);
		proxy.cut();
		for (let n = 0; n < 20; n++) await etcdPut(etcd(), `${prefix}a`, String(n));
		await Promise.all(keys.map((key) => etcdPut(etcd(), key, value)));
		await etcdCompact(etcd());
		await proxy.resume();
		await waitFor("all that came", () =>
			keys.every((key) => follower.valueOf(key)?.length === value.length),
		);
		expect(follower.valueOf(`${prefix}a`)).toBe("19");
		await expectToSee(etcd(), follower, `${prefix}b`, "1");
	});

	test.each([
		["another id", false],
		["the same id", true],
	])("sees that etcd was wiped, and goes on with a cluster of %s", async (_, sameClusterId) => {
		const server = await startEtcd();
		const store = await openStore(server.endpoint);
		const prefix = newPrefix();
		const follower = new Follower(store, prefix);
		for (let n = 0; n < 20; n++) await etcdPut(server, `${prefix}${n}`, "old");
		await waitFor("the old keys", () => follower.valueOf(`${prefix}19`));
		await server.wipe({ sameClusterId });
		await waitFor("emptiness", () => follower.latest?.entries.size === 0);
		await expectToSee(server, follower, `${prefix}new`, "1");
	});
});
