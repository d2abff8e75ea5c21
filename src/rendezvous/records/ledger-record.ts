import { LEDGER, type LedgerRecord } from "../../model/index.js";
import type { Entry, Snapshot } from "../../store/index.js";
import type { RunKeys } from "./keys.js";
import { informationAt, type Warn } from "./record-codec.js";

export { LEDGER, type LedgerRecord };

/** Decodes each entry once: a long run has thousands, and few change between two reads. */
const known = new WeakMap<Entry, LedgerRecord>();

export function ledgerRecords(
	{ ledger }: RunKeys,
	snapshot: Snapshot,
	warn: Warn,
): readonly LedgerRecord[] {
	return [...snapshot.entries.values()]
		.filter(({ key }) => key.startsWith(ledger))
		.flatMap((entry) => {
			const { key } = entry;
			const record =
				known.get(entry) ?? informationAt(LEDGER, snapshot, key, warn);
			if (record !== undefined) known.set(entry, record);
			return record ?? [];
		})
		.sort((left, right) => left.round - right.round);
}
