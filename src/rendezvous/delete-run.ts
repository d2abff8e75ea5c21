import type { RunKeys } from "./keys.js";
import { readRunView } from "./run-view.js";
import type { Snapshot, Store } from "./store.js";

/** Deletions a transaction may hold beside its guards; etcd's limit is 128 operations. */
const BATCH_SIZE = 100;

/**
 * Deletes all keys of a run of which nobody is left. Resolves with whether that
 * was done: not where there is no such run, nor where anybody is in it or joins
 * it meanwhile. What says that there is a run goes last.
 * @throws ElasticRunError STORE_UNREACHABLE
 */
export async function deleteRun(store: Store, keys: RunKeys): Promise<boolean> {
	const snapshot = await store.snapshot([keys.prefix]);
	const view = readRunView(keys, snapshot);
	if (view === undefined || isInhabited(keys, snapshot)) return false;
	const guards = [
		{ key: keys.round, modRevision: view.roundRevision },
		{ key: keys.coordinator, modRevision: 0 },
	];
	const last = [keys.round, keys.spec];
	const others = [...snapshot.entries.keys()].filter(
		(key) => !last.includes(key),
	);
	for (let from = 0; from < others.length; from += BATCH_SIZE) {
		const batch = others.slice(from, from + BATCH_SIZE);
		const writes = batch.map((key) => ({ delete: key }));
		if (!(await store.transaction(guards, writes)).succeeded) return false;
	}
	// A node that joins the same start of a run changes nothing that is compared.
	const again = await store.snapshot([keys.nodes, keys.coordinator]);
	if (isInhabited(keys, again)) return false;
	const { succeeded } = await store.transaction(
		guards,
		last.map((key) => ({ delete: key })),
	);
	return succeeded;
}

function isInhabited(keys: RunKeys, { entries }: Snapshot): boolean {
	return [...entries.keys()].some(
		(key) => key.startsWith(keys.nodes) || key === keys.coordinator,
	);
}
