import type { RunKeys } from "../../rendezvous/records/keys.js";
import {
	PROGRESS,
	type ProgressRecord,
} from "../../rendezvous/records/progress-record.js";
import { informationAt } from "../../rendezvous/records/record-codec.js";
import type { Store } from "../../rendezvous/store/store.js";

export interface ReadProgressOptions {
	readonly store: Pick<Store, "snapshot">;
	readonly keys: RunKeys;
	readonly instance: number | null;
	readonly round: number;
}

/** How far the nodes of a round have come; undefined if the store does not answer. Unreadable records are left out. */
export async function readProgress({
	store,
	keys,
	instance,
	round,
}: ReadProgressOptions): Promise<readonly ProgressRecord[] | undefined> {
	const snapshot = await store.snapshot([keys.progress]).catch(() => undefined);
	if (snapshot === undefined) return undefined;
	return [...snapshot.entries.keys()]
		.flatMap((key) => informationAt(PROGRESS, snapshot, key, () => {}) ?? [])
		.filter((one) => one.round === round && one.instance === instance);
}
