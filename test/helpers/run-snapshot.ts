import { encodeRecord } from "../../src/rendezvous/records/record-codec.js";
import type { Entry, Snapshot } from "../../src/store/store.js";
import { isLeased } from "./leased-store.js";

/** Keys as a store would hold them, each changed once, in this order. */
export function snapshotOf(
	records: Readonly<Record<string, { readonly version: 1 }>>,
): Snapshot {
	const entries = Object.entries(records).map(
		([key, record], index): [string, Entry] => {
			const revision = index + 1;
			const value = encodeRecord(record);
			return [
				key,
				{
					...{ key, value, lease: isLeased(key) ? "lease" : null },
					...{ createRevision: revision, modRevision: revision },
				},
			];
		},
	);
	return { revision: 100, entries: new Map(entries) };
}
