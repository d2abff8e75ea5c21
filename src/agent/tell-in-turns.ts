/**
 * So many are told before the first of them is woken. One that is awake takes a processor
 * from the telling; but who is told first is not to wait until many have been told.
 */
const TOLD_TOGETHER = 2;

/**
 * Tells all in order, and wakes those that were told while it goes on.
 * @returns the last few, which have been told and are still to be woken
 */
export function tellInTurns<Item>(
	all: readonly Item[],
	tell: (item: Item) => void,
	wake: (item: Item) => void,
): readonly Item[] {
	const told: Item[] = [];
	for (const item of all) {
		if (told.length === TOLD_TOGETHER) told.splice(0).forEach(wake);
		tell(item);
		told.push(item);
	}
	return told;
}
