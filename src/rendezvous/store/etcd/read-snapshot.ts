import type { Entry, Snapshot } from "../store.js";
import { decodeSnapshot, encodeSnapshot } from "./codec.js";
import type { TxnRequest, TxnResponse } from "./etcd-client.js";

/** Reads what the selectors match. With earlier records it reads only changes, if these give the whole. */
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
 * The earlier records with the changes since. Undefined if etcd's count shows that they are incomplete: keys of a prefix
 * were deleted, or something was not known; or if this is another etcd, whose revisions are lower.
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

/** The selectors that match a key, by index. */
function placesOf(key: string, selectors: readonly string[]): number[] {
	return selectors.flatMap((selector, place) =>
		isSelected(key, selector) ? [place] : [],
	);
}

function isSelected(key: string, selector: string): boolean {
	return selector.endsWith("/") ? key.startsWith(selector) : key === selector;
}
