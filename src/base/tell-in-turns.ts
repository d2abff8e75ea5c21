/**
 * So many get their message before the first of them is woken. A woken receiver takes a processor from the sender, but
 * the first one must not wait until many have their message.
 */
const TOLD_TOGETHER = 2;

/**
 * Sends to all in order, and wakes earlier receivers meanwhile.
 * @returns the last few receivers, which still have to be woken
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
