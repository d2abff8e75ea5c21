/**
 * Prepares one item, uses it, then prepares and uses two, four, up to `most` at a time. If an item's preparation throws,
 * it is tried once more alone after the items before it were used, because they may have held what it needed. The loop
 * ends early if it throws again, or if `isTimeUp` says so between two batches.
 *
 * @returns the items that were not used, the failed one first, and its error if there is one; undefined if all were used.
 */
export function inBatches<Item, Prepared>(
	items: readonly Item[],
	most: number,
	prepare: (item: Item) => Prepared,
	use: (item: Item, prepared: Prepared) => void,
	isTimeUp: () => boolean,
): { readonly error?: unknown; readonly left: readonly Item[] } | undefined {
	let size = 1;
	for (let left = items; left.length > 0; size = Math.min(2 * size, most)) {
		const ready: [Item, Prepared][] = [];
		try {
			for (const item of left.slice(0, size)) ready.push([item, prepare(item)]);
		} catch (error) {
			if (ready.length === 0) return { error, left };
		}
		for (const [item, prepared] of ready) use(item, prepared);
		left = left.slice(ready.length);
		if (left.length > 0 && isTimeUp()) return { left };
	}
	return undefined;
}
