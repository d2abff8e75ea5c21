import { beforeAll, describe, expect, it } from "vitest";
import { pause } from "../../../../../src/base/back-off.js";
import { ReconcileLoop } from "../../../../../src/rendezvous/member/reconcile-loop.js";
import { seededRandom } from "../../../../helpers/seeded-random.js";
import { VirtualClock } from "../../../../helpers/virtual-clock.js";
import { MortalEtcd, type Try } from "./mortal-etcd.js";

const STORES = 200;
/** They do not start in one moment, and nothing else keeps them apart before. */
const STARTS_WITHIN_MS = 2_000;
const CALM_MS = 3_000;
const OUTAGE_MS = 5_000;
const AFTER_MS = 1_000;
/** The longest that a stream of a store waits before it is tried again. */
const LONGEST_PAUSE_MS = 400;
/** How long a try itself takes, and the way of a late one. */
const SLACK_MS = 5;

/** The tries of stores that hold a lease, watch, and look, over an outage that takes all of them at once. */
async function tries(random: () => number) {
	const clock = new VirtualClock(0);
	const etcd = new MortalEtcd(clock);
	const losses: string[] = [];
	const opened = Array.from({ length: STORES }, async (_, place) => {
		await pause(clock, (place / STORES) * STARTS_WITHIN_MS);
		const store = etcd.store(random);
		await store.openLease(10_000, { onLost: (reason) => losses.push(reason) });
		store.watch(["round"], 1, () => {});
		const look = async () => {
			await store.snapshot(["round"]);
			return false;
		};
		const onError = (error: unknown) => losses.push(String(error));
		const seen = () => 0;
		new ReconcileLoop({ clock, random, seen, look, onError }).requestRead();
	});
	await clock.advance(CALM_MS);
	await Promise.all(opened);
	expect(etcd.tries).toHaveLength(STORES);
	etcd.goAway();
	await clock.advance(OUTAGE_MS);
	etcd.comeBack();
	await clock.advance(AFTER_MS);
	const during = (from: number, to: number) =>
		etcd.tries.filter(({ at }) => at >= from && at < to);
	const end = CALM_MS + OUTAGE_MS;
	return {
		losses,
		/** All of the outage but its first second, in which the pauses grow. */
		lasting: during(CALM_MS + 1_000, end),
		first: firstOfEach(during(CALM_MS, end)),
		after: during(end, Number.POSITIVE_INFINITY),
		end,
	};
}

function firstOfEach(all: readonly Try[]): readonly Try[] {
	const first = new Map<number, Try>();
	for (const each of all) {
		if (!first.has(each.store)) first.set(each.store, each);
	}
	return [...first.values()];
}

/** The most tries that fall into any window of this length. */
function mostWithin(windowMs: number, all: readonly Try[]): number {
	const times = all.map(({ at }) => at).toSorted((a, b) => a - b);
	let from = 0;
	return times.reduce((most, at, index) => {
		while (at - (times[from] ?? at) >= windowMs) from++;
		return Math.max(most, index - from + 1);
	}, 0);
}

describe("200 stores whose etcd goes away for all of them at once", () => {
	let seen: Awaited<ReturnType<typeof tries>>;
	beforeAll(async () => {
		seen = await tries(seededRandom(1));
	});

	it("J6 try again spread over time, none more often than is useful, none left out", () => {
		const { lasting, first, losses } = seen;
		const seconds = (OUTAGE_MS - 1_000) / 1_000;
		for (let store = 0; store < STORES; store++) {
			const own = lasting.filter((each) => each.store === store);
			// Two streams at most each 200 ms, and a look at most each 500 ms.
			expect(own.length / seconds).toBeLessThan(12);
			const gaps = own
				.slice(1)
				.map(({ at }, index) => at - (own[index]?.at ?? 0));
			expect(Math.max(...gaps)).toBeLessThan(LONGEST_PAUSE_MS + SLACK_MS);
		}
		// The first pause is the shortest: 25 to 50 ms.
		expect(first).toHaveLength(STORES);
		expect(mostWithin(5, first)).toBeLessThan(STORES / 2);
		const mean = lasting.length / (seconds * 100);
		expect(mostWithin(10, lasting)).toBeLessThan(2.5 * mean);
		expect(losses).toEqual([]);
	});

	it("J6 come back each over one connection, and not in one burst", () => {
		const { after, end } = seen;
		expect(after).toHaveLength(STORES);
		expect(firstOfEach(after)).toHaveLength(STORES);
		const last = Math.max(...after.map(({ at }) => at));
		expect(last - end).toBeLessThan(LONGEST_PAUSE_MS + SLACK_MS);
		expect(mostWithin(10, after)).toBeLessThan(0.15 * STORES);
	});
});
