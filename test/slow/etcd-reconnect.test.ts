import { expect, test } from "vitest";
import { type Clock, systemClock } from "../../src/base/clock.js";
import { etcdForAll, etcdPut } from "../helpers/etcd.js";
import { Follower, holdKey, openStore } from "../helpers/etcd-store.js";
import { waitFor } from "../helpers/processes.js";
import { startProxy } from "../helpers/tcp-proxy.js";

const STORES = 30;
const PREFIX = "/elastic-run/reconnect/";
/** So long that none lapses, and that a keepalive's own waits are longer than any pause between tries. */
const TTL_MS = 30_000;
/** The pauses of a stream that has failed four times in a row, or more often. */
const LASTING_PAUSE_MS = { shortest: 200, longest: 400 };

const etcd = etcdForAll();

/** The real clock, which notes down what a store has chosen as its pauses: a busy machine may keep them late. */
function notingClock() {
	const pauses: number[] = [];
	const clock: Clock = {
		...systemClock,
		wakeAt: (at, wake) => {
			const delayMs = at - systemClock.now();
			if (delayMs <= LASTING_PAUSE_MS.longest) pauses.push(delayMs);
			return systemClock.wakeAt(at, wake);
		},
	};
	return { clock, pauses };
}

/** The largest part of the values that lies in any window of this length. */
function densest(values: readonly number[], windowMs: number): number {
	const counts = values.map(
		(from) =>
			values.filter((value) => value >= from && value < from + windowMs).length,
	);
	return Math.max(...counts) / values.length;
}

test("J6 J16 thirty stores whose connections all break at once choose different times to try again, and all come back", async () => {
	const proxy = await startProxy(etcd().endpoint);
	const users = await Promise.all(
		Array.from({ length: STORES }, async (_, place) => {
			const { clock, pauses } = notingClock();
			const store = await openStore(proxy.endpoint, { clock });
			const { losses } = await holdKey(store, `${PREFIX}${place}`, TTL_MS);
			const follower = new Follower(store, PREFIX);
			await waitFor("a look", () => follower.latest);
			return { store, pauses, losses, follower };
		}),
	);
	proxy.cut();
	const lastOf = (pauses: readonly number[]) => pauses.at(-1) ?? 0;
	await waitFor("all to have failed often", () =>
		users.every(({ pauses }) => lastOf(pauses) >= LASTING_PAUSE_MS.shortest),
	);
	const chosen = users.map(({ pauses }) => lastOf(pauses));
	const { accepted } = proxy;
	await proxy.resume();
	await etcdPut(etcd(), `${PREFIX}news`, "all are told");
	for (const { follower } of users) {
		await waitFor("the news", () => follower.valueOf(`${PREFIX}news`));
	}
	expect(densest(chosen, 20)).toBeLessThan(0.5);
	// One each; a busy machine that is late with an answer costs another.
	expect(proxy.accepted - accepted).toBeLessThan(2 * STORES);
	expect(users.flatMap(({ losses }) => losses)).toEqual([]);
});
