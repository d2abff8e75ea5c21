import type { Snapshot } from "../store/store.js";
import type { RunKeys } from "./keys.js";
import { LEDGER, type LedgerRecord } from "./ledger-record.js";
import { informationAt, type Warn } from "./record-codec.js";

/** All records of a run's ledger, by round. */
export function ledgerRecords(
	{ ledger }: RunKeys,
	snapshot: Snapshot,
	warn: Warn,
): readonly LedgerRecord[] {
	return [...snapshot.entries.keys()]
		.filter((key) => key.startsWith(ledger))
		.flatMap((key) => informationAt(LEDGER, snapshot, key, warn) ?? [])
		.sort((left, right) => left.round - right.round);
}
