/**
 * Prepares up to `size` items, then uses each of them, then goes on with the next ones.
 * An item whose preparation throws is tried once more alone, when the ones before it have
 * been used: they may have held what it lacked. Where it throws again, all ends there.
 *
 * @returns what was thrown and the items that were not used, its own first; undefined where all were.
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
