/**
 * Prepares up to `size` items, uses each of them, then goes on with the next ones. If an item's preparation throws, it is
 * tried once more alone after the items before it were used, because they may have held what it needed. If it throws
 * again, the loop ends.
 *
 * @returns the error and the items that were not used, the failed one first; undefined if all were used.
 */
export function inBatches<Item, Prepared>(
	items: readonly Item[],
	size: number,
	prepare: (item: Item) => Prepared,
	use: (item: Item, prepared: Prepared) => void,
): { readonly error: unknown; readonly left: readonly Item[] } | undefined {
	for (let left = items; left.length > 0; ) {
		const ready: [Item, Prepared][] = [];
		try {
			for (const item of left.slice(0, size)) ready.push([item, prepare(item)]);
		} catch (error) {
			if (ready.length === 0) return { error, left };
		}
		for (const [item, prepared] of ready) use(item, prepared);
		left = left.slice(ready.length);
	}
	return undefined;
}
