import { describeGoodput, type Goodput } from "../goodput/describe-goodput.js";
import { readAccounts } from "../goodput/read-ledger.js";
import { describeHistory } from "../rendezvous/describe/describe-history.js";
import { describeRun } from "../rendezvous/describe/describe-run.js";
import { onceEach, type Warn } from "../rendezvous/records/record-codec.js";
import type { Searcher } from "./status/find-runs.js";
import { readKnownRun } from "./status/kept-runs.js";
import type { RunPlaces } from "./status/run-request.js";

/** The goodput of a run, and where its records were found. */
export interface FoundGoodput extends Goodput {
	readonly place: string;
}

/**
 * What the time of a run was spent on; undefined if there is no such run.
 * @param warn receives each unreadable record
 * @throws ElasticRunError STORE_UNREACHABLE, RENDEZVOUS_FAILED
 */
export async function readGoodput(
	runId: string,
	places: RunPlaces,
	searcher: Searcher,
	warn: Warn,
): Promise<FoundGoodput | undefined> {
	const [newest] = await readKnownRun(runId, places, searcher);
	if (newest === undefined) return undefined;
	const { snapshot, place } = newest;
	const wallTime = searcher.clock.wallTime();
	const once = onceEach(warn);
	const run = describeRun(runId, snapshot, wallTime);
	const history = describeHistory(runId, snapshot, wallTime, once);
	if (run === undefined || history === undefined) return undefined;
	const accounts = readAccounts(run, history, snapshot, wallTime, once);
	return { ...describeGoodput(accounts), place };
}
