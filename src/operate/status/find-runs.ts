import { retry } from "../../base/back-off.js";
import type { Clock } from "../../base/clock.js";
import type { StoreConfig } from "../../config/agent-config.js";
import type { Host } from "../../config/host.js";
import { localBases } from "../../node-files/local-agents.js";
import { openStore } from "../../rendezvous/access/open-store.js";
import { ALL_RUNS, RunKeys } from "../../rendezvous/records/keys.js";
import { recordAt, type Warn } from "../../rendezvous/records/record-codec.js";
import { ROUND } from "../../rendezvous/records/records.js";
import type { Snapshot } from "../../rendezvous/store/store.js";
import {
	describeAll,
	describeOne,
	describeReadable,
	type FoundRun,
	type StoredRuns,
} from "./describe-runs.js";
import { findLocalRuns, type LocalRun } from "./local-runs.js";
import type { RunPlaces } from "./run-request.js";

const LEAST_PATIENCE_MS = 3_000;

/** How long to try a store that does not answer, in milliseconds; longer for one that is known to be slow. */
export function patienceWith({
	leaseTtlMs = 0,
}: Pick<StoreConfig, "leaseTtlMs">): number {
	return Math.max(LEAST_PATIENCE_MS, leaseTtlMs);
}

/** What the search for runs needs to know about the machine. */
export interface Searcher {
	readonly host: Host;
	readonly uid: number;
	readonly clock: Clock;
}

/** The keys of one run, and where they were found. */
export interface ReadRun {
	readonly snapshot: Snapshot;
	/** As in `FoundRun`. */
	readonly place: string;
	/** The agent that holds the keys in its memory; undefined if they are in a store. */
	readonly local: LocalRun | undefined;
}

/**
 * The keys of the runs with this name: usually one, but a machine may have several runs without a store of one name. The
 * one started last comes first. The keys may be empty.
 * @throws ElasticRunError STORE_UNREACHABLE
 */
export async function readRun(
	runId: string,
	{ local, store }: RunPlaces,
	searcher: Searcher,
): Promise<readonly ReadRun[]> {
	const { host, uid } = searcher;
	const found = local
		? findLocalRuns(localBases(host, uid), uid).filter(
				(run) => run.runId === runId,
			)
		: [];
	if (found.length > 0 || store === undefined) {
		return newestFirst(found).map((run) => ({
			snapshot: run.snapshot,
			place: run.directory,
			local: run,
		}));
	}
	const { prefix } = new RunKeys(runId);
	const snapshot = await readStore(store, prefix, searcher);
	return [{ snapshot, place: store.endpoints.join(","), local: undefined }];
}

/**
 * The status of the runs with this name, in the order of `readRun`.
 * @param warn called with unreadable parts that are left out
 * @throws ElasticRunError STORE_UNREACHABLE; RENDEZVOUS_FAILED if none has readable keys
 */
export async function findRun(
	runId: string,
	places: RunPlaces,
	searcher: Searcher,
	warn: Warn,
): Promise<readonly FoundRun[]> {
	const found = await readRun(runId, places, searcher);
	return describeRead(runId, found, searcher, warn);
}

/** The status of runs of one name that were read. */
export function describeRead(
	runId: string,
	found: readonly ReadRun[],
	searcher: Searcher,
	warn: Warn,
): readonly FoundRun[] {
	const [newest] = found;
	if (newest === undefined) return [];
	if (found.length === 1) {
		return describeOne(runId, newest.snapshot, newest.place, searcher, warn);
	}
	return describeReadable(
		found.map((run) => ({ ...run, runId })),
		searcher,
		warn,
	);
}

/**
 * All runs that can be found. A store that was not named is not asked.
 * @param warn called for each run with unreadable keys
 * @throws ElasticRunError STORE_UNREACHABLE
 */
export async function findRuns(
	places: RunPlaces,
	searcher: Searcher,
	warn: Warn,
): Promise<readonly FoundRun[]> {
	const { host, uid } = searcher;
	const stored = await findStoredRuns(undefined, places, searcher, warn);
	if (stored !== undefined) return stored.runs;
	if (!places.local) return [];
	const found = findLocalRuns(localBases(host, uid), uid);
	return describeReadable(
		found.map((run) => ({ ...run, place: run.directory })),
		searcher,
		warn,
	);
}

/**
 * The runs of the named store, undefined if none is named: all of them, or the one with this name, for which the store
 * need show only its keys.
 * @throws ElasticRunError STORE_UNREACHABLE
 */
export async function findStoredRuns(
	runId: string | undefined,
	{ store, isStoreAssumed }: RunPlaces,
	searcher: Searcher,
	warn: Warn,
): Promise<StoredRuns | undefined> {
	if (store === undefined || isStoreAssumed) return undefined;
	const keys = runId === undefined ? ALL_RUNS : new RunKeys(runId).prefix;
	const snapshot = await readStore(store, keys, searcher);
	return describeAll(snapshot, store.endpoints.join(","), searcher, warn);
}

/** An unreadable run comes last. */
function newestFirst(runs: readonly LocalRun[]): readonly LocalRun[] {
	return [...runs].sort((left, right) => instanceOf(right) - instanceOf(left));
}

function instanceOf({ runId, snapshot }: LocalRun): number {
	try {
		return recordAt(ROUND, snapshot, new RunKeys(runId).round)?.instance ?? 0;
	} catch {
		return 0;
	}
}

async function readStore(
	config: StoreConfig,
	selector: string,
	{ clock }: Searcher,
): Promise<Snapshot> {
	// No other client retries at the same moment, so there is nothing to spread.
	const random = () => 0;
	const store = await openStore(config, { clock, random });
	try {
		const until = clock.now() + patienceWith(config);
		return await retry({ clock, random, until }, () =>
			store.snapshot([selector]),
		);
	} finally {
		await store.close();
	}
}
