import type { Ending } from "../../src/agent/state.js";
import type {
	NodeRecord,
	RoundRecord,
	RunSpec,
	SeatRecord,
} from "../../src/rendezvous/records.js";

/** A span of simulated time in milliseconds; it may still be open. */
export interface Span {
	readonly from: number;
	to: number;
}

/** One agent process from its start to its end. */
export interface ProcessHistory {
	readonly nodeId: string;
	readonly incarnation: string;
	readonly startedAt: number;
	endedAt: number | null;
	/** How it ended; null while it lives, and for ever where it was killed. */
	ending: Ending | null;
	readonly frozen: Span[];
	/** When it could not rely on its way to the store; being frozen is part of that. */
	readonly disturbed: Span[];
	/** When it took its lease for lost. */
	readonly lossesTold: number[];
	/** When its record came into being. */
	readonly recordMade: number[];
	/** When its record vanished from the store because its lease ended. */
	readonly recordGone: number[];
	/** What its record should say at present. */
	intent: { readonly state: string; readonly claim: number } | null;
}

/** One worker, from its spawn until nothing of its process group is left. */
export interface WorkerHistory {
	readonly pid: number;
	readonly process: ProcessHistory;
	readonly startedAt: number;
	endedAt: number | null;
	/** When its first process ended, of which others of the group may be left. */
	leaderEndedAt: number | null;
	readonly instance: number;
	/** The rounds that it has worked in, in order. */
	readonly rounds: readonly number[];
	readonly localRank: number;
	readonly rank: number;
	readonly groupRank: number;
	readonly worldSize: number;
	readonly masterAddr: string;
	readonly masterPort: number;
	/** The picture of the run that it was started on said that its round was to be left. */
	readonly roundWasLeft: boolean;
	/** It failed by itself, before anybody signalled it. */
	failed: boolean;
	/** Its leader ended with exit code 0. */
	succeeded: boolean;
}

/** One write of the run's `round` key, and what stood beside it at that revision. */
export interface RoundCommit {
	readonly at: number;
	readonly revision: number;
	readonly round: RoundRecord;
	/** Whose write it was, and who coordinated at that moment. */
	readonly by: string;
	readonly coordinator: string | null;
	/** The plan's seats by node id. */
	readonly seats: ReadonlyMap<string, SeatRecord>;
	readonly nodes: ReadonlyMap<string, NodeRecord>;
}

/** One process changed another's record, or ended the lease that it hung on. */
export interface Intrusion {
	readonly at: number;
	readonly by: string;
	readonly of: ProcessHistory;
}

/** A record that says ready for a round that was synced already when it was written. */
export interface StaleClaim {
	readonly at: number;
	readonly by: string;
	readonly claim: number;
	readonly synced: number;
}

/** All that a simulated run has shown: what the checkers look at. */
export interface History {
	readonly seed: number;
	readonly spec: RunSpec;
	readonly shutdownTimeoutMs: number;
	/** The longest that a message takes where nothing is disturbed. */
	readonly slowestMessageMs: number;
	readonly processes: ProcessHistory[];
	readonly workers: WorkerHistory[];
	readonly commits: RoundCommit[];
	readonly intrusions: Intrusion[];
	readonly staleClaims: StaleClaim[];
	/** When the last fault was over. */
	quietSince: number;
	endedAt: number;
}

/** A broken invariant, with the time at which it broke. */
export interface Violation {
	readonly checker: string;
	readonly at: number;
	readonly what: string;
}

/** Looks for breaks of one invariant. */
export interface Checker {
	readonly name: string;
	check(history: History): Iterable<{ at: number; what: string }>;
}

export function isWithin(spans: readonly Span[], from: number, to: number) {
	return spans.some((span) => span.from <= to && span.to >= from);
}

/** The commits that lifted a barrier: the first of each (instance, round). */
export function lifts(history: History): readonly RoundCommit[] {
	return history.commits.filter((commit, index) => {
		const before = history.commits[index - 1];
		const previous =
			before?.round.instance === commit.round.instance
				? before.round.synced
				: commit.round.deprecated;
		return commit.round.synced > previous;
	});
}

/** From when on a time limit counts: after each disturbance that begins before it would be over. */
export function undisturbedFrom(
	{ disturbed, frozen }: ProcessHistory,
	from: number,
	boundMs: number,
): number {
	let start = from;
	const spans = [...disturbed, ...frozen].sort(
		(left, right) => left.from - right.from,
	);
	for (const span of spans) {
		if (span.to > start && span.from <= start + boundMs) start = span.to;
	}
	return start;
}
