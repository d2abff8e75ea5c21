import { retry } from "../base/back-off.js";
import type { StoreConfig } from "../config/agent-config.js";
import { openStore } from "../rendezvous/access/open-store.js";
import { RunKeys } from "../rendezvous/records/keys.js";
import { recordAt } from "../rendezvous/records/record-codec.js";
import { SEAT } from "../rendezvous/records/records.js";
import type { Store } from "../rendezvous/store/store.js";
import { patienceWith, type Searcher } from "./found-runs.js";

/** Whether the node was readmitted, or why there was nothing to do. */
export type Readmission = "readmitted" | "not-replaced" | "no-run";

/**
 * Lets a replaced node in again, with a fresh budget.
 * @throws ElasticRunError STORE_UNREACHABLE
 */
export async function readmitNode(
	runId: string,
	nodeId: string,
	config: StoreConfig,
	{ clock }: Pick<Searcher, "clock">,
): Promise<Readmission> {
	const random = () => 0;
	const store = await openStore(config, { clock, random });
	try {
		const until = clock.now() + patienceWith(config);
		return await retry({ clock, random, until }, () =>
			readmit(store, new RunKeys(runId), nodeId),
		);
	} finally {
		await store.close();
	}
}

async function readmit(
	store: Store,
	keys: RunKeys,
	nodeId: string,
): Promise<Readmission> {
	const replaced = keys.replacedNode(nodeId);
	const budget = keys.budget(nodeId);
	const seatKey = keys.seat(nodeId);
	for (;;) {
		const snapshot = await store.snapshot([
			...[keys.round, replaced, budget, seatKey],
		]);
		const { entries } = snapshot;
		if (!entries.has(keys.round)) return "no-run";
		const seat = recordAt(SEAT, snapshot, seatKey);
		const isRefused = seat !== undefined && "refused" in seat;
		if (!entries.has(replaced) && !isRefused) return "not-replaced";
		const guards = [replaced, seatKey].map((key) => ({
			key,
			modRevision: entries.get(key)?.modRevision ?? 0,
		}));
		const { succeeded } = await store.transaction(guards, [
			...[{ delete: replaced }, { delete: budget }],
			...(isRefused ? [{ delete: seatKey }] : []),
		]);
		if (succeeded) return "readmitted";
	}
}
