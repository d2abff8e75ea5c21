import { isUnreachable } from "../../base/back-off.js";
import {
	endedRunsDirectory,
	readEndedRuns,
} from "../../node-files/ended-runs.js";
import type { Warn } from "../../rendezvous/records/record-codec.js";
import { describeReadable, type FoundRun } from "./describe-runs.js";
import {
	describeRead,
	findRuns,
	type ReadRun,
	readRun,
	type Searcher,
} from "./find-runs.js";
import type { RunPlaces } from "./run-request.js";

/** The runs that ended on this machine within the last week, newest first. */
export function keptRuns({ host, uid, clock }: Searcher) {
	const directory = endedRunsDirectory(host, uid);
	return readEndedRuns(directory, uid, clock.wallTime());
}

/** This machine's record of the end of one start of a run; undefined if there is none. */
export function findKeptRun(
	runId: string,
	instance: number,
	searcher: Searcher,
	warn: Warn,
): readonly FoundRun[] {
	return keptRuns(searcher)
		.filter((run) => run.runId === runId)
		.flatMap(({ snapshot, file }) =>
			describeReadable([{ runId, snapshot, place: file }], searcher, warn),
		)
		.filter(({ status }) => status.instance === instance)
		.slice(0, 1);
}

/**
 * Like `readRun`; if there is no such run, or no store answers, this machine's record of its end.
 * @throws ElasticRunError STORE_UNREACHABLE
 */
export async function readKnownRun(
	runId: string,
	places: RunPlaces,
	searcher: Searcher,
): Promise<readonly ReadRun[]> {
	const kept = keptRuns(searcher).find((run) => run.runId === runId);
	if (kept === undefined) return readRun(runId, places, searcher);
	const record = {
		snapshot: kept.snapshot,
		place: kept.file,
		local: undefined,
	};
	// A store that was not named is not asked for a run that had none.
	const isHere = kept.backend === "memory" && places.isStoreAssumed;
	const asked = isHere ? { ...places, store: undefined } : places;
	try {
		const found = await readRun(runId, asked, searcher);
		return found.some(({ snapshot }) => snapshot.entries.size > 0)
			? found
			: [record];
	} catch (error) {
		if (!isUnreachable(error)) throw error;
		return [record];
	}
}

/** The status of the runs with this name, in the order of `readKnownRun`. */
export async function findKnownRun(
	runId: string,
	places: RunPlaces,
	searcher: Searcher,
	warn: Warn,
): Promise<readonly FoundRun[]> {
	const found = await readKnownRun(runId, places, searcher);
	return describeRead(runId, found, searcher, warn);
}

/** Like `findRuns`, with this machine's records of other ended runs. */
export async function findKnownRuns(
	places: RunPlaces,
	searcher: Searcher,
	warn: Warn,
): Promise<readonly FoundRun[]> {
	const found = await findRuns(places, searcher, warn);
	if (!places.local) return found;
	const names = new Set(found.map(({ status }) => status.runId));
	const ended = keptRuns(searcher).flatMap(({ runId, snapshot, file }) => {
		if (names.has(runId)) return [];
		names.add(runId);
		const read = [{ runId, snapshot, place: file }];
		return describeReadable(read, searcher, warn).map((run) => ({
			...run,
			isRecord: true as const,
		}));
	});
	return [...found, ...ended];
}
