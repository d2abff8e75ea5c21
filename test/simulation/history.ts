import type {
	BudgetRecord,
	NodeRecord,
	RoundRecord,
	SeatRecord,
} from "../../src/rendezvous/records/records.js";
import type { RunSpec } from "../../src/rendezvous/records/run-spec.js";
import type { Write } from "../../src/store/store.js";
import { SLOWEST_WAY_MS } from "./link.js";
import type { ProcessHistory, Span } from "./process-history.js";
import type { RunShape } from "./settings.js";
import type { PolicyKind } from "./sim-policies.js";
import type { Situation } from "./situations.js";
import type { WorkerHistory } from "./worker-history.js";

export type { ProcessHistory, Span, StoreCall } from "./process-history.js";
export type { Stint, WorkerHistory } from "./worker-history.js";

/** One write of the run's `round` key, and what stood beside it at that revision. */
export interface RoundCommit {
	readonly at: number;
	readonly revision: number;
	readonly round: RoundRecord;
	/** Whose write it was. */
	readonly by: string;
	/** How often the store had been emptied before. */
	readonly wipes: number;
	/** The plan's seats by node id. */
	readonly seats: ReadonlyMap<string, SeatRecord>;
	readonly nodes: ReadonlyMap<string, NodeRecord>;
	/** What each node has used up, by node id. */
	readonly budgets: ReadonlyMap<string, BudgetRecord>;
	/** The nodes that have finished this plan, or an earlier one. */
	readonly finished: ReadonlySet<string>;
	/** The nodes whose replacement has come, so that their budgets began again. */
	readonly reset: ReadonlySet<string>;
}

/** What a node's record says from now on; null: it is gone. */
interface RecordChange {
	readonly at: number;
	readonly nodeId: string;
	readonly record: NodeRecord | null;
}

/** A write of what all share, by a process that did not coordinate at that moment. */
interface Usurpation {
	readonly at: number;
	readonly by: string;
	readonly coordinator: string | null;
	readonly key: string;
}

/** One process changed another's record, or ended the lease that it hung on. */
interface Intrusion {
	readonly at: number;
	readonly by: string;
	readonly of: ProcessHistory;
}

/** The guard of a killed process has told another that it is dead, and no worker is left. */
export interface Word {
	readonly at: number;
	readonly by: ProcessHistory;
	readonly of: ProcessHistory;
}

/** A record that says ready for a round that was synced already when it was written. */
interface StaleClaim {
	readonly at: number;
	readonly by: string;
	readonly claim: number;
	readonly synced: number;
}

/** All that a simulated run has shown: what the checkers look at. */
export interface History {
	readonly seed: number;
	readonly spec: RunSpec;
	readonly policy: PolicyKind;
	readonly shutdownTimeoutMs: number;
	readonly pauseTimeoutMs: number;
	/** The longest that a message takes where nothing is disturbed. */
	readonly slowestMessageMs: number;
	readonly processes: ProcessHistory[];
	readonly workers: WorkerHistory[];
	readonly commits: RoundCommit[];
	readonly records: RecordChange[];
	readonly usurpations: Usurpation[];
	readonly intrusions: Intrusion[];
	readonly staleClaims: StaleClaim[];
	readonly words: Word[];
	/** When the store lost all of the run's keys. */
	readonly wipes: number[];
	/** When it was set up from an older copy: from then on its history is another one. */
	restored?: number;
	/** Situations that can only be seen while they come about. */
	readonly noted: Set<Situation>;
	/** What the store has taken, in its order. */
	readonly written: StoredWrite[];
	/** When the last fault was over. */
	quietSince: number;
	/** When the run was at rest after that; null: never. */
	restedAt: number | null;
	endedAt: number;
}

/** The history of a run in which nothing has happened yet. */
export function emptyHistory(seed: number, shape: RunShape): History {
	return {
		seed,
		spec: shape.spec,
		policy: shape.policy,
		shutdownTimeoutMs: shape.shutdownTimeoutMs,
		pauseTimeoutMs: shape.pauseTimeoutMs,
		slowestMessageMs: SLOWEST_WAY_MS,
		processes: [],
		workers: [],
		commits: [],
		records: [],
		usurpations: [],
		intrusions: [],
		staleClaims: [],
		words: [],
		wipes: [],
		noted: new Set(),
		written: [],
		quietSince: Number.POSITIVE_INFINITY,
		restedAt: null,
		endedAt: 0,
	};
}

interface StoredWrite {
	readonly at: number;
	readonly by: string;
	readonly write: Write;
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

/** The commit before this one, where it belongs to the same start of the run in the same store. */
export function predecessor(
	{ commits }: History,
	index: number,
): RoundCommit | undefined {
	const [before, commit] = [commits[index - 1], commits[index]];
	const isSame =
		before?.round.instance === commit?.round.instance &&
		before?.wipes === commit?.wipes;
	return isSame ? before : undefined;
}

/** Whether a node has used up its own budget, or one of its workers that of its own, or had before its replacement came. */
export function isSpent(
	{ budgets, reset }: Pick<RoundCommit, "budgets" | "reset">,
	nodeId: string,
	{ maxRestarts }: RunSpec,
): boolean {
	const { charged = 0, workers = {} } = budgets.get(nodeId) ?? {};
	const used = Math.max(charged, ...Object.values(workers));
	return used > maxRestarts || reset.has(nodeId);
}

/** What a node's own budget and those of its workers have been charged. */
export function spentBy({ charged, workers = {} }: BudgetRecord): number {
	return Object.values(workers).reduce((sum, one) => sum + one, charged);
}

/** The commits that lifted a barrier: the first of each (instance, round). */
export function lifts(history: History): readonly RoundCommit[] {
	return history.commits.filter((commit, index) => {
		const before = predecessor(history, index);
		const previous = before?.round.synced ?? commit.round.deprecated;
		return commit.round.synced > previous;
	});
}

/** From when on a time limit counts: after each disturbance that begins before it would be over. */
export function undisturbedFrom(
	{ disturbed, frozen }: Pick<ProcessHistory, "disturbed" | "frozen">,
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
