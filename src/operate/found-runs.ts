import { readFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../base/attempt.js";
import { isUnreachable, retry } from "../base/back-off.js";
import type { Clock } from "../base/clock.js";
import { messageOf } from "../base/errors.js";
import type { Host, StoreConfig } from "../config/index.js";
import {
	decodeMirror,
	endedRunsDirectory,
	findLocalAgents,
	type LocalAgent,
	localBases,
	MIRROR_FILE,
	type Mirror,
	readEndedRuns,
} from "../node-files/index.js";
import {
	ALL_RUNS,
	isInhabited,
	openStore,
	ROUND,
	RunKeys,
	recordAt,
	type Warn,
} from "../rendezvous/index.js";
import { describeRun, type FoundRun, runIdsIn } from "../status/index.js";
import type { Snapshot } from "../store/index.js";
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
function describeRead(
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
	const key = new RunKeys(runId).round;
	return attempt(() => recordAt(ROUND, snapshot, key)?.instance) ?? 0;
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

export interface BrokenRun {
	readonly runId: string;
	/** Which key, and what is wrong with it. */
	readonly problem: string;
	/** Whether it may still have an agent. */
	readonly isInhabited: boolean;
}

export interface StoredRuns {
	readonly runs: readonly FoundRun[];
	readonly broken: readonly BrokenRun[];
}

/** The status of all runs in a snapshot of a store. */
export function describeAll(
	snapshot: Snapshot,
	place: string,
	searcher: Pick<Searcher, "clock">,
	warn: Warn,
): StoredRuns {
	const runs: FoundRun[] = [];
	const broken: BrokenRun[] = [];
	for (const runId of runIdsIn(snapshot)) {
		try {
			runs.push(...describeOne(runId, snapshot, place, searcher, warn));
		} catch (error) {
			const problem = messageOf(error);
			warn(problem);
			const isLived = isInhabited(new RunKeys(runId), snapshot);
			broken.push({ runId, problem, isInhabited: isLived });
		}
	}
	return { runs, broken };
}

/** The readable runs; an unreadable one does not hide the others. */
function describeReadable(
	runs: readonly {
		readonly runId: string;
		readonly snapshot: Snapshot;
		readonly place: string;
	}[],
	searcher: Pick<Searcher, "clock">,
	warn: Warn,
): readonly FoundRun[] {
	return runs.flatMap(({ runId, snapshot, place }) => {
		try {
			return describeOne(runId, snapshot, place, searcher, warn);
		} catch (error) {
			warn(`${place}: ${messageOf(error)}`);
			return [];
		}
	});
}

/**
 * The status of the run with this name; empty if the snapshot has none.
 * @param warn called with unreadable parts that are left out
 * @throws ElasticRunError RENDEZVOUS_FAILED if its keys are unreadable
 */
export function describeOne(
	runId: string,
	snapshot: Snapshot,
	place: string,
	{ clock }: Pick<Searcher, "clock">,
	warn: Warn,
): readonly FoundRun[] {
	const status = describeRun(runId, snapshot, clock.wallTime(), warn);
	return status === undefined ? [] : [{ status, place }];
}

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

/** A run whose state is in the memory of an agent on this machine. */
export interface LocalRun extends Mirror, LocalAgent {}

/** Runs of living agents, sorted by directory name. */
export function findLocalRuns(
	bases: readonly string[],
	uid: number,
): readonly LocalRun[] {
	return findLocalAgents(bases, uid).flatMap((agent) => {
		const mirror = readMirror(agent);
		return mirror === undefined ? [] : [{ ...mirror, ...agent }];
	});
}

/** Undefined if the agent keeps its state elsewhere. */
export function readMirror({ directory }: LocalAgent): Mirror | undefined {
	// The agent may have ended meanwhile, or not have written it yet.
	return attempt(() =>
		decodeMirror(readFileSync(join(directory, MIRROR_FILE), "utf8")),
	);
}
