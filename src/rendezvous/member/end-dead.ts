import type { Store, Write } from "../../store/index.js";
import type { RunKeys } from "../records/keys.js";
import { encodeRecord } from "../records/record-codec.js";
import { type NodeRecord, RECORD_VERSION } from "../records/records.js";
import { decodeNode } from "../records/run-view.js";

export type NodeProcess = Pick<NodeRecord, "nodeId" | "incarnation">;

/** Says in the store that this process has ended; `died`: without a word. */
export function leftWrite(
	keys: RunKeys,
	{ nodeId, incarnation }: NodeProcess,
	how: { readonly died?: true } = {},
): Write {
	const version = RECORD_VERSION;
	const record = { version, incarnation, ...how } as const;
	return { put: keys.leftBy(nodeId), value: encodeRecord(record) };
}

/**
 * Ends the lease of an agent that is certainly dead and has left no worker, and writes that it died. Its record and, if it
 * coordinated, the coordinator's key vanish in one revision, as when the lease expires. A lease belongs to one process only,
 * so a later process of the node is never touched. Returns whether there was such a lease: if it has expired, those who
 * wait for its round's members still learn that it died.
 */
export async function endLeaseOfDead(
	store: Pick<Store, "snapshot" | "transaction" | "endLease">,
	keys: RunKeys,
	{ nodeId, incarnation }: NodeProcess,
): Promise<boolean> {
	const key = keys.node(nodeId);
	const died = leftWrite(keys, { nodeId, incarnation }, { died: true });
	for (;;) {
		const { entries } = await store.snapshot([key, keys.round]);
		const entry = entries.get(key);
		if (!entries.has(keys.round)) return false;
		if (entry && decodeNode(entry).incarnation !== incarnation) return false;
		const { modRevision = 0, lease = null } = entry ?? {};
		const written = await store.transaction([{ key, modRevision }], [died]);
		// Its own last write, or its successor's first one, may come in between.
		if (!written.succeeded) continue;
		if (lease !== null) await store.endLease(lease);
		return lease !== null;
	}
}
