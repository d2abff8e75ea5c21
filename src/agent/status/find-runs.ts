import type { Clock } from "../../clock.js";
import { messageOf } from "../../errors.js";
import { retry } from "../../rendezvous/back-off.js";
import { describeRun, runIdsIn } from "../../rendezvous/describe-run.js";
import { ALL_RUNS, RunKeys } from "../../rendezvous/keys.js";
import type { RunStatus } from "../../rendezvous/run-status.js";
import type { Snapshot } from "../../rendezvous/store.js";
import type { StoreConfig } from "../configuration/agent-config.js";
import type { Host } from "../configuration/host.js";
import { openStore } from "../open-store.js";
import { findLocalRuns, type LocalRun, localBases } from "./local-runs.js";
import type { RunPlaces } from "./run-request.js";

/** How long a store that does not answer is tried, in milliseconds. */
const PATIENCE_MS = 3_000;

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

/**
 * The runs of this name: one, but for runs without a store, of which a machine
 * may have several of one name. The one that was started last comes first.
 * @throws ElasticRunError STORE_UNREACHABLE; RENDEZVOUS_FAILED where its keys cannot be read
 */
export async function findRun(
	runId: string,
	{ local, store }: RunPlaces,
	searcher: Searcher,
): Promise<readonly FoundRun[]> {
	const found = local
		? describeLocal(searcher, (run) => run.runId === runId)
		: [];
	if (found.length > 0 || store === undefined) {
		return [...found].sort(
			(left, right) => right.status.instance - left.status.instance,
		);
	}
	const { prefix } = new RunKeys(runId);
	const snapshot = await readStore(store, prefix, searcher);
	return described(runId, snapshot, store.endpoints.join(","), searcher);
}

/**
 * All runs that are to be found. A store that nobody has named is not asked.
 * @param warn told of each run whose keys another version of elastic-run has written
 * @throws ElasticRunError STORE_UNREACHABLE
 */
export async function findRuns(
	{ local, store, isStoreAssumed }: RunPlaces,
	searcher: Searcher,
	warn: (message: string) => void,
): Promise<readonly FoundRun[]> {
	const found = local ? describeLocal(searcher, () => true) : [];
	if (store === undefined || isStoreAssumed) return found;
	const snapshot = await readStore(store, ALL_RUNS, searcher);
	const place = store.endpoints.join(",");
	return runIdsIn(snapshot).flatMap((runId) => {
		try {
			return described(runId, snapshot, place, searcher);
		} catch (error) {
			warn(messageOf(error));
			return [];
		}
	});
}

function describeLocal(
	searcher: Searcher,
	isAsked: (run: LocalRun) => boolean,
): readonly FoundRun[] {
	const { host, uid } = searcher;
	return findLocalRuns(localBases(host, uid), uid)
		.filter(isAsked)
		.flatMap(({ runId, snapshot, directory }) =>
			described(runId, snapshot, directory, searcher),
		);
}

function described(
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
