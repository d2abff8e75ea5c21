import type { Entry, Snapshot } from "../store.js";
import { decodeSnapshot, encodeSnapshot } from "./codec.js";
import type { TxnRequest, TxnResponse } from "./etcd-client.js";

/** Reads what the selectors match: of what is known only what has changed, wherever that tells the whole. */
export async function readSnapshot(
	selectors: readonly string[],
	known: Snapshot | undefined,
	send: (request: TxnRequest) => Promise<TxnResponse>,
): Promise<Snapshot> {
	if (known !== undefined) {
		const answer = await send(encodeSnapshot(selectors, known.revision));
		const merged = mergeSnapshot(known, selectors, answer);
		if (merged !== undefined) return merged;
	}
	return decodeSnapshot(await send(encodeSnapshot(selectors)));
}

/**
 * What was known, with what has changed since. Undefined where that is not what
 * etcd holds, as it counts it: some of a prefix were deleted, or something was not
 * known; or where this is another etcd, whose revisions are lower.
 */
function mergeSnapshot(
	known: Snapshot,
	selectors: readonly string[],
	answer: TxnResponse,
): Snapshot | undefined {
	const { revision, entries: changes } = decodeSnapshot(answer);
	if (revision < known.revision) return undefined;
	const held = answer.responses.map(({ response_range }) =>
		Number(response_range.count),
	);
	const counts = selectors.map(() => 0);
	const entries = new Map<string, Entry>();
	for (const [key, entry] of new Map([...known.entries, ...changes])) {
		const places = placesOf(key, selectors);
		const isGone = places.some((place) => held[place] === 0);
		if (isGone || places.length === 0) continue;
		entries.set(key, entry);
		for (const place of places) counts[place] = (counts[place] ?? 0) + 1;
	}
	const isWhole = held.every((count, place) => count === counts[place]);
	return isWhole ? { revision, entries } : undefined;
}

/** Which of the selectors match a key. */
function placesOf(key: string, selectors: readonly string[]): number[] {
	return selectors.flatMap((selector, place) =>
		isSelected(key, selector) ? [place] : [],
	);
}

function isSelected(key: string, selector: string): boolean {
	return selector.endsWith("/") ? key.startsWith(selector) : key === selector;
}
