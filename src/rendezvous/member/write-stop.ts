import type { Clock } from "../../base/clock.js";
import { EXIT_CODES } from "../../base/errors.js";
import type { Snapshot, Store } from "../../store/index.js";
import { observeRound } from "../planner/observe-round.js";
import { EMPTY_MEMORY, type RoundPlan } from "../planner/plan.js";
import { planWrites } from "../planner/plan-writes.js";
import { tellStory } from "../planner/story.js";
import type { RunKeys } from "../records/keys.js";
import type { Outcome } from "../records/records.js";
import { type RunView, readRunView } from "../records/run-view.js";

interface StopRunOptions {
	readonly store: Store;
	readonly keys: RunKeys;
	readonly clock: Clock;
	/** By whom or why it is stopped. */
	readonly reason: string;
}

/** A run that has ended, by this stop or before. */
export interface StoppedRun {
	readonly instance: number;
	readonly outcome: Outcome;
}

/**
 * Gives a run the outcome `stopped`, with which all its agents exit. An existing outcome stays. Resolves with undefined
 * if there is no such run.
 * @throws ElasticRunError STORE_UNREACHABLE: it may have succeeded all the same, and another try shows it
 */
export async function stopRun(
	options: StopRunOptions,
): Promise<StoppedRun | undefined> {
	const { store, keys, clock, reason } = options;
	let instance: number | undefined;
	for (;;) {
		const view = readRunView(keys, await store.snapshot([keys.prefix]));
		instance ??= view?.round.instance;
		// A later start of the run was not asked to stop.
		if (view === undefined || view.round.instance !== instance) return;
		const { outcome } = view.round;
		if (outcome !== null) return { instance, outcome };
		const plan = planStop(view, { ...STOPPED, reason }, clock.wallTime());
		const { last } = planWrites(plan, keys, view);
		// The coordinator's writes compare the same revision: one of the two comes first, and the other reads again.
		await store.transaction(
			[{ key: keys.round, modRevision: view.roundRevision }],
			last,
		);
	}
}

const STOPPED = { result: "stopped", exitCode: EXIT_CODES.stopped } as const;

/** What an end of the run is given from outside. */
export type GivenEnd = Pick<Outcome, "result" | "exitCode" | "reason">;

/** The keys as they were if the run had this end now. An end that it has stays. */
export function withEnd(
	snapshot: Snapshot,
	keys: RunKeys,
	end: GivenEnd,
	wallTime: number,
): Snapshot {
	const view = readRunView(keys, snapshot);
	if (view === undefined || view.round.outcome !== null) return snapshot;
	const { last } = planWrites(planStop(view, end, wallTime), keys, view);
	const entries = new Map(snapshot.entries);
	for (const write of last) {
		if (!("put" in write)) continue;
		const { put: key, value } = write;
		const { revision } = snapshot;
		const made = { createRevision: revision, modRevision: revision };
		const before = entries.get(key) ?? { ...made, lease: null };
		entries.set(key, { ...before, key, value });
	}
	return { ...snapshot, entries };
}

/**
 * The writes that end a run: its outcome, and the end of its round in the history.
 * @param wallTime milliseconds since 1970
 */
export function planStop(
	view: RunView,
	end: GivenEnd,
	wallTime: number,
): Extract<RoundPlan, { kind: "update" }> {
	const outcome: Outcome = { ...end, root: null, endedAt: wallTime };
	const plan = {
		kind: "update" as const,
		round: { ...view.round, outcome },
		budgets: new Map(),
	};
	const memory = observeRound(view, EMPTY_MEMORY, wallTime);
	return { ...plan, story: tellStory(view, plan, memory, wallTime) };
}
