import { describe, expect, test } from "vitest";
import { pause } from "../../src/base/back-off.js";
import { systemClock } from "../../src/base/clock.js";
import { etcdForAll, etcdPut } from "../helpers/etcd.js";
import {
	FEW_CONNECTIONS,
	Follower,
	holdKey,
	openStore,
} from "../helpers/etcd-store.js";
import {
	expectToSee,
	followThroughProxy,
	newPrefix,
} from "../helpers/follow-through-proxy.js";
import { waitFor } from "../helpers/processes.js";
import { startProxy } from "../helpers/tcp-proxy.js";

const etcd = etcdForAll();
describe("a watch", () => {
	test("tells many users of a store over one connection, and each once of what comes together", async () => {
		const store = await openStore(etcd().endpoint);
		const prefix = newPrefix();
		const hints = Array.from({ length: 300 }, () => 0);
		const watches = hints.map((_, n) =>
			store.watch([`${prefix}all`, `${prefix}${n}`, `${prefix}sub/`], 0, () => {
				hints[n] = (hints[n] ?? 0) + 1;
			}),
		);
		await waitFor("all to watch", () => hints.every((count) => count > 0));
		await pause(systemClock, 300);
		const before = [...hints];
		await etcdPut(etcd(), `${prefix}all`, "1");
		await waitFor("all to be told", () =>
			hints.every((count, n) => count > (before[n] ?? 0)),
		);
		expect(store.metrics.connections).toBeLessThan(FEW_CONNECTIONS);
		for (const watch of watches) watch.close();
	});

	test("opens no new connection when it closes, and asks for nothing more", async () => {
		const store = await openStore(etcd().endpoint);
		const prefix = newPrefix();
		for (let round = 0; round < 10; round++) {
			await new Promise<void>((resolve) => {
				const watch = store.watch([prefix], 0, () => {
					watch.close();
					resolve();
				});
			});
		}
		await store.snapshot([prefix]);
		expect(store.metrics.connections).toBeLessThan(FEW_CONNECTIONS);
	});

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

	test.each([
		"to-server",
		"to-client",
	] as const)("hears again where only what goes %s comes through, once all does", async (direction) => {
		const { proxy, store, prefix, follower } = await followThroughProxy(etcd());
		const { losses } = await holdKey(store, `${prefix}held`, 10_000);
		const { accepted } = proxy;
		proxy.oneWay(direction);
		await waitFor("another connection", () => proxy.accepted > accepted);
		await proxy.resume();
		await expectToSee(etcd(), follower, `${prefix}a`, "1");
		expect(losses).toEqual([]);
	});
});
