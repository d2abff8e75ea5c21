import { beforeEach, describe, expect, it } from "vitest";
import {
	type RoundLinks,
	type RoundNews,
	RoundWatch,
} from "../../../src/rendezvous/member/round-watch.js";
import { RunKeys } from "../../../src/rendezvous/records/keys.js";
import type { Entry, OnHint } from "../../../src/store/index.js";

const KEYS = new RunKeys("run");

function entry(key: string, modRevision: number): Entry {
	return { key, value: "{}", createRevision: 1, modRevision, lease: null };
}

const at = (revision: number, ...known: readonly Entry[]) => ({
	revision,
	entries: new Map(known.map((one) => [one.key, one])),
});

/** The agent's end of its links. */
class Ends implements RoundLinks {
	isTold = false;
	readonly told: (RoundNews | null)[] = [];
	hear: (news: RoundNews | null) => void = () => {};

	tellRound(news: RoundNews | null): void {
		this.told.push(news);
	}

	onRound(hear: (news: RoundNews | null) => void): void {
		this.hear = hear;
	}
}

describe("A6 T5 an agent hears of its round", () => {
	let links: Ends;
	let hints: Parameters<OnHint>[];
	let missed: number;
	let watching: { selectors: readonly string[]; after: number; hint: OnHint }[];
	let watch: RoundWatch;

	beforeEach(() => {
		links = new Ends();
		hints = [];
		missed = 0;
		watching = [];
		watch = new RoundWatch({
			store: {
				watch: (selectors, after, hint) => {
					const one = { selectors, after, hint };
					watching.push(one);
					return {
						close: () => {
							watching = watching.filter((other) => other !== one);
						},
					};
				},
			},
			keys: KEYS,
			links,
			onHint: (...hint) => hints.push(hint),
			onMissed: () => missed++,
		});
	});

	it("by a watch of its own, and passes it on", () => {
		const round = entry(KEYS.round, 5);
		watch.after(at(7, round, entry(KEYS.seat("a"), 6)));
		expect(watching).toMatchObject([
			{ selectors: [KEYS.round, KEYS.coordinator], after: 7 },
		]);
		const [{ hint } = { hint: () => {} }] = watching;
		const next = entry(KEYS.round, 8);
		hint(8, [next]);
		hint(9);
		hint();
		expect(hints).toEqual([
			[8, [next]],
			[9, undefined],
			[undefined, undefined],
		]);
		expect(links.told).toEqual([
			{ revision: 7, entries: [round] },
			{ revision: 8, entries: [next] },
			{ revision: 9, entries: [] },
		]);
		watch.after(at(9, next));
		expect(watching).toHaveLength(1);
	});

	it("from who tells it, without a watch, until that one does so no more", () => {
		watch.after(at(7));
		links.isTold = true;
		watch.after(at(8));
		expect(watching).toEqual([]);
		const next = entry(KEYS.round, 9);
		links.hear({ revision: 9, entries: [next] });
		expect(hints).toEqual([[9, [next]]]);
		expect(links.told.at(-1)).toEqual({ revision: 9, entries: [next] });
		links.hear({ revision: 10, entries: [entry("/other/round", 10)] });
		expect(hints.at(-1)).toEqual([10, undefined]);
		expect(missed).toBe(0);
		links.isTold = false;
		links.hear(null);
		expect(missed).toBe(1);
		watch.after(at(11));
		expect(watching).toMatchObject([{ after: 11 }]);
	});

	it("and passes on that a key has gone, once, though no watch has said so", () => {
		const [round, leader] = [entry(KEYS.round, 5), entry(KEYS.coordinator, 6)];
		watch.after(at(7, round, leader));
		const [{ hint } = { hint: () => {} }] = watching;
		hint();
		links.told.length = 0;
		watch.after(at(9, round));
		watch.after(at(10, round));
		expect(links.told).toEqual([
			{ revision: 9, entries: [] },
			{ revision: 9, entries: [round] },
			{ revision: 10, entries: [round] },
		]);
		watch.after(at(12, round, entry(KEYS.coordinator, 11)));
		hint(13);
		links.told.length = 0;
		watch.after(at(14, round));
		expect(links.told).toEqual([{ revision: 14, entries: [round] }]);
	});

	it("until it is closed, and then says so", () => {
		watch.after(at(7));
		watch.close();
		expect(watching).toEqual([]);
		expect(links.told.at(-1)).toBeNull();
		links.hear({ revision: 9, entries: [] });
		links.hear(null);
		expect([hints, missed]).toEqual([[], 0]);
	});
});
