import type { Clock } from "../../clock.js";
import { messageOf } from "../../errors.js";
import { retry } from "../../rendezvous/back-off.js";
import { describeRun, runIdsIn } from "../../rendezvous/describe-run.js";
import { ALL_RUNS, RunKeys } from "../../rendezvous/keys.js";
import type { RunStatus } from "../../rendezvous/run-status.js";
import { readRunView } from "../../rendezvous/run-view.js";
import type { Snapshot } from "../../rendezvous/store.js";
import type { StoreConfig } from "../configuration/agent-config.js";
import type { Host } from "../configuration/host.js";
import { openStore } from "../open-store.js";
import { localBases } from "./local-agents.js";
import { findLocalRuns, type LocalRun } from "./local-runs.js";
import type { RunPlaces } from "./run-request.js";

/** How long a store that does not answer is tried, in milliseconds. */
export const PATIENCE_MS = 3_000;

/** One run, and where it was found. */
export interface FoundRun {
	readonly status: RunStatus;
	/** The directory of its agent on this machine, or the store's endpoints. */
	readonly place: string;
}

/** What looking for runs needs to know of the machine. */
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
	/** The agent that holds the keys in its memory; undefined: they are in a store. */
	readonly local: LocalRun | undefined;
}

/**
 * The keys of the runs of this name: one, but for runs without a store, of
 * which a machine may have several of one name. The one that was started last
 * comes first. There may be none of the keys.
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
 * Where the runs of this name stand, in the order of `readRun`.
 * @throws ElasticRunError STORE_UNREACHABLE; RENDEZVOUS_FAILED where its keys cannot be read
 */
export async function findRun(
	runId: string,
	places: RunPlaces,
	searcher: Searcher,
): Promise<readonly FoundRun[]> {
	const found = await readRun(runId, places, searcher);
	return found.flatMap(({ snapshot, place }) =>
		describeOne(runId, snapshot, place, searcher),
	);
}

/**
 * All runs that are to be found. A store that nobody has named is not asked.
 * @param warn told of each run whose keys another version of elastic-run has written
 * @throws ElasticRunError STORE_UNREACHABLE
 */
export async function findRuns(
	places: RunPlaces,
	searcher: Searcher,
	warn: (message: string) => void,
): Promise<readonly FoundRun[]> {
	const found = places.local ? describeLocal(searcher) : [];
	const stored = await findStoredRuns(undefined, places, searcher, warn);
	return stored ?? found;
}

/**
 * The runs of a store that somebody has named, undefined where nobody has: all of them, or
 * the one of this name, for which the store need show no more than its keys.
 * @throws ElasticRunError STORE_UNREACHABLE
 */
export async function findStoredRuns(
	runId: string | undefined,
	{ store, isStoreAssumed }: RunPlaces,
	searcher: Searcher,
	warn: (message: string) => void,
): Promise<readonly FoundRun[] | undefined> {
	if (store === undefined || isStoreAssumed) return undefined;
	const keys = runId === undefined ? ALL_RUNS : new RunKeys(runId).prefix;
	const snapshot = await readStore(store, keys, searcher);
	return describeAll(snapshot, store.endpoints.join(","), searcher, warn);
}

/** Where all runs stand of which a snapshot of a store has keys. */
export function describeAll(
	snapshot: Snapshot,
	place: string,
	searcher: Searcher,
	warn: (message: string) => void,
): readonly FoundRun[] {
	return runIdsIn(snapshot).flatMap((runId) => {
		try {
			return describeOne(runId, snapshot, place, searcher);
		} catch (error) {
			warn(messageOf(error));
			return [];
		}
	});
}

function describeLocal(searcher: Searcher): readonly FoundRun[] {
	const { host, uid } = searcher;
	return findLocalRuns(localBases(host, uid), uid).flatMap(
		({ runId, snapshot, directory }) =>
			describeOne(runId, snapshot, directory, searcher),
	);
}

function newestFirst(runs: readonly LocalRun[]): readonly LocalRun[] {
	const instanceOf = ({ runId, snapshot }: LocalRun) =>
		readRunView(new RunKeys(runId), snapshot)?.round.instance ?? 0;
	return [...runs].sort((left, right) => instanceOf(right) - instanceOf(left));
}

/** Where the run of this name stands; none, if the snapshot has none. */
export function describeOne(
	runId: string,
	snapshot: Snapshot,
	place: string,
	{ clock }: Searcher,
): readonly FoundRun[] {
	const status = describeRun(runId, snapshot, clock.wallTime());
	return status === undefined ? [] : [{ status, place }];
}

async function readStore(
	config: StoreConfig,
	selector: string,
	{ clock }: Searcher,
): Promise<Snapshot> {
	// Nobody else comes back at the same moment: there is nothing to spread.
	const random = () => 0;
	const store = await openStore(config, { clock, random });
	try {
		const until = clock.now() + PATIENCE_MS;
		return await retry({ clock, random, until }, () =>
			store.snapshot([selector]),
		);
	} finally {
		await store.close();
	}
}
