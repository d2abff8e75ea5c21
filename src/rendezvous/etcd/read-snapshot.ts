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
 * etcd holds, as it counts it: something was deleted, or was not known; or where
 * this is another etcd, whose revisions are lower.
 */
function mergeSnapshot(
	known: Snapshot,
	selectors: readonly string[],
	answer: TxnResponse,
): Snapshot | undefined {
	const { revision, entries: changes } = decodeSnapshot(answer);
	if (revision < known.revision) return undefined;
	const counts = selectors.map(() => 0);
	const entries = new Map<string, Entry>();
	for (const [key, entry] of new Map([...known.entries, ...changes])) {
		for (const [index, selector] of selectors.entries()) {
			if (!isSelected(key, selector)) continue;
			counts[index] = (counts[index] ?? 0) + 1;
			entries.set(key, entry);
		}
	}
	const isWhole = answer.responses.every(
		({ response_range }, index) =>
			Number(response_range.count) === counts[index],
	);
	return isWhole ? { revision, entries } : undefined;
}

function isSelected(key: string, selector: string): boolean {
	return selector.endsWith("/") ? key.startsWith(selector) : key === selector;
}
