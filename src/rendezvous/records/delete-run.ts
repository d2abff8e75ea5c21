import type { Snapshot, Store } from "../../store/index.js";
import type { RunKeys } from "./keys.js";

/** Deletions per transaction besides its guards; etcd's limit is 128 operations. */
const BATCH_SIZE = 100;

/**
 * Deletes all keys of a run without agents. Resolves with whether it did: not if there is no such run, or an agent is in
 * it or joins it meanwhile. The keys that show that a run exists go last.
 * @throws ElasticRunError STORE_UNREACHABLE
 */
export async function deleteRun(store: Store, keys: RunKeys): Promise<boolean> {
	const snapshot = await store.snapshot([keys.prefix]);
	const { entries } = snapshot;
	if (entries.size === 0 || isInhabited(keys, snapshot)) return false;
	const guards = [keys.round, keys.coordinator].map((key) => ({
		key,
		modRevision: entries.get(key)?.modRevision ?? 0,
	}));
	// The guarded keys stay until then.
	const last = [keys.round, keys.spec, keys.coordinator];
	const others = [...entries.keys()].filter((key) => !last.includes(key));
	for (let from = 0; from < others.length; from += BATCH_SIZE) {
		const batch = others.slice(from, from + BATCH_SIZE);
		const writes = batch.map((key) => ({ delete: key }));
		if (!(await store.transaction(guards, writes)).succeeded) return false;
	}
	// A node that joins the same start of the run changes no compared key.
	const again = await store.snapshot([keys.nodes, keys.coordinator]);
	if (isInhabited(keys, again)) return false;
	const { succeeded } = await store.transaction(
		guards,
		last.map((key) => ({ delete: key })),
	);
	return succeeded;
}

/** A key without a lease belongs to no living agent. The values are not read, because they may be garbled. */
export function isInhabited(keys: RunKeys, { entries }: Snapshot): boolean {
	return [...entries.values()].some(
		({ key, lease }) =>
			lease !== null &&
			(key.startsWith(keys.nodes) || key === keys.coordinator),
	);
}
