import type { RankEvidence } from "../model/evidence.js";
import type { Verdict } from "./evidence.js";

/** Whom a rule of the table names, and why. */
export type Accusation = Pick<Verdict, "kind" | "reason"> & {
	readonly ranks: readonly RankEvidence[];
	readonly why: (rank: RankEvidence) => string;
};

/** Undefined if nobody would be accused. */
export function some(
	ranks: readonly RankEvidence[],
	about: Omit<Accusation, "ranks">,
): Accusation | undefined {
	return ranks.length === 0 ? undefined : { ...about, ranks };
}

/** Parts with the same key, the largest first. */
export function partsOf<Item>(
	items: readonly Item[],
	keyOf: (item: Item) => string,
): readonly (readonly [string, readonly Item[]])[] {
	const parts = new Map<string, Item[]>();
	for (const item of items) {
		const key = keyOf(item);
		parts.set(key, [...(parts.get(key) ?? []), item]);
	}
	return [...parts].sort(([, left], [, right]) => right.length - left.length);
}
