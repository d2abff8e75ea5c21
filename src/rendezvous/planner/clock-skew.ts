/** The usual difference between the clocks of nodes, in milliseconds. */
const SKEW_MS = 1_000;

/** Whether two nodes' clocks agree, within the usual difference, that one event came before the other. */
export function isInOrder(
	earlier: number | null,
	later: number | null,
): boolean {
	return earlier === null || later === null || earlier - later <= SKEW_MS;
}
