import type { Clock } from "../../base/clock.js";
import { messageOf } from "../../base/errors.js";
import {
	describeRun,
	runIdsIn,
} from "../../rendezvous/describe/describe-run.js";
import type { RunStatus } from "../../rendezvous/describe/run-status.js";
import { isInhabited } from "../../rendezvous/records/delete-run.js";
import { RunKeys } from "../../rendezvous/records/keys.js";
import type { Warn } from "../../rendezvous/records/record-codec.js";
import type { Snapshot } from "../../rendezvous/store/store.js";

/** One run, and where it was found. */
export interface FoundRun {
	readonly status: RunStatus;
	/** The directory of its agent on this machine, the store's endpoints, or the file of its record. */
	readonly place: string;
	/** It has ended, and `place` is this machine's record of it. */
	readonly isRecord?: true;
}

/** A run with unreadable keys. */
export interface BrokenRun {
	readonly runId: string;
	/** Which key, and what is wrong with it. */
	readonly problem: string;
	/** Whether it may still have an agent. */
	readonly isInhabited: boolean;
}

/** The runs in a store. */
export interface StoredRuns {
	readonly runs: readonly FoundRun[];
	readonly broken: readonly BrokenRun[];
}

interface Time {
	readonly clock: Clock;
}

/** The status of all runs in a snapshot of a store. */
export function describeAll(
	snapshot: Snapshot,
	place: string,
	time: Time,
	warn: Warn,
): StoredRuns {
	const runs: FoundRun[] = [];
	const broken: BrokenRun[] = [];
	for (const runId of runIdsIn(snapshot)) {
		try {
			runs.push(...describeOne(runId, snapshot, place, time, warn));
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
export function describeReadable(
	runs: readonly {
		readonly runId: string;
		readonly snapshot: Snapshot;
		readonly place: string;
	}[],
	time: Time,
	warn: Warn,
): readonly FoundRun[] {
	return runs.flatMap(({ runId, snapshot, place }) => {
		try {
			return describeOne(runId, snapshot, place, time, warn);
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
	{ clock }: Time,
	warn: Warn,
): readonly FoundRun[] {
	const status = describeRun(runId, snapshot, clock.wallTime(), warn);
	return status === undefined ? [] : [{ status, place }];
}
