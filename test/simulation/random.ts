import { seededRandom } from "../helpers/seeded-random.js";

/** All chance of one simulated run, from one seed. */
export class Random {
	/** A number in [0, 1). */
	readonly next: () => number;

	constructor(seed: number) {
		this.next = seededRandom(seed);
	}

	/** A whole number from `least` to `most`, both included. */
	integer(least: number, most: number): number {
		return least + Math.floor(this.next() * (most - least + 1));
	}

	/** A number from `least` to `most`. */
	between(least: number, most: number): number {
		return least + this.next() * (most - least);
	}

	chance(probability: number): boolean {
		return this.next() < probability;
	}

	/** One of the items; undefined where there is none. */
	pick<Item>(items: readonly [Item, ...Item[]]): Item;
	pick<Item>(items: readonly Item[]): Item | undefined;
	pick<Item>(items: readonly Item[]): Item | undefined {
		return items[this.integer(0, items.length - 1)];
	}

	/** The items in a random order. */
	shuffle<Item>(items: readonly Item[]): readonly Item[] {
		return items
			.map((item) => ({ item, key: this.next() }))
			.sort((left, right) => left.key - right.key)
			.map(({ item }) => item);
	}
}
