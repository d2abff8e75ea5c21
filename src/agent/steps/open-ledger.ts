import { furthestOfAll } from "../../progress/work.js";
import type { RunKeys } from "../../rendezvous/records/keys.js";
import {
	type LedgerRecord,
	ledgerRecords,
} from "../../rendezvous/records/ledger-record.js";
import { encodeRecord } from "../../rendezvous/records/record-codec.js";
import type { Store } from "../../rendezvous/store/store.js";
import { RoundLedger, type RoundLedgerOptions } from "./round-ledger.js";

/** Deletions per transaction; etcd's limit is 128 operations. */
const BATCH_SIZE = 100;

export interface OpenLedgerOptions
	extends Pick<
		RoundLedgerOptions,
		"clock" | "nodeId" | "arrivedAt" | "stragglerMs" | "starts"
	> {
	readonly keys: RunKeys;
	readonly store: Pick<Store, "snapshot" | "transaction">;
}

/** The ledger of this node, kept in the store. It only informs people, so what the store does not take is lost. */
export function openLedger({
	keys,
	store,
	...options
}: OpenLedgerOptions): RoundLedger {
	const write = async (record: LedgerRecord) => {
		const put = keys.ledgerOf(record.round, record.nodeId);
		const value = encodeRecord(record);
		await store.transaction([], [{ put, value }]).catch(() => {});
	};
	const readFurthest = async (instance: number, round: number) => {
		const rounds = [round, Math.max(1, round - 1)];
		const selectors = rounds.map((one) => keys.ledgerOfRound(one));
		const snapshot = await store.snapshot(selectors).catch(() => undefined);
		if (snapshot === undefined) return null;
		const records = ledgerRecords(keys, snapshot, () => {});
		return furthestOfAll(records.filter((one) => one.instance === instance));
	};
	const forget = async (round: number) => {
		const prefix = keys.ledgerOfRound(round);
		const snapshot = await store.snapshot([prefix]).catch(() => undefined);
		const old = [...(snapshot?.entries.keys() ?? [])];
		for (let from = 0; from < old.length; from += BATCH_SIZE) {
			const batch = old.slice(from, from + BATCH_SIZE);
			const writes = batch.map((key) => ({ delete: key }));
			await store.transaction([], writes).catch(() => {});
		}
	};
	return new RoundLedger({ ...options, write, readFurthest, forget });
}
