import type { Clock } from "../clock.js";
import { EXIT_CODES } from "../errors.js";
import { tellStory } from "./history.js";
import type { RunKeys } from "./keys.js";
import { observeRound } from "./observe-round.js";
import { EMPTY_MEMORY, type RoundPlan } from "./plan.js";
import { planWrites } from "./plan-writes.js";
import type { Outcome } from "./records.js";
import { type RunView, readRunView } from "./run-view.js";
import type { Store } from "./store.js";

export interface StopRunOptions {
	readonly store: Store;
	readonly keys: RunKeys;
	readonly clock: Clock;
	/** Who ends it, in words. */
	readonly reason: string;
}

/** A run that has ended, by this stop or before it. */
export interface StoppedRun {
	readonly instance: number;
	readonly outcome: Outcome;
}

/**
 * Gives a run the outcome `stopped`, with which all of its agents exit; an
 * outcome that it has already stays. Resolves with undefined where there is no
 * such run.
 * @throws ElasticRunError STORE_UNREACHABLE: it may have been done all the same, and a further try finds it so
 */
export async function stopRun(
	options: StopRunOptions,
): Promise<StoppedRun | undefined> {
	const { store, keys, clock, reason } = options;
	let instance: number | undefined;
	for (;;) {
		const view = readRunView(keys, await store.snapshot([keys.prefix]));
		instance ??= view?.round.instance;
		// Nobody has asked to stop what was begun after the run that was there.
		if (view === undefined || view.round.instance !== instance) return;
		const { outcome } = view.round;
		if (outcome !== null) return { instance, outcome };
		const plan = planStop(view, reason, clock.wallTime());
		const { last } = planWrites(plan, keys, view);
		// The coordinator's writes compare the same revision: either of the two is first, and the other looks again.
		await store.transaction(
			[{ key: keys.round, modRevision: view.roundRevision }],
			last,
		);
	}
}

/**
 * What stopping a run writes: its outcome, and the end of its round in the history.
 * @param wallTime milliseconds since 1970
 */
export function planStop(
	view: RunView,
	reason: string,
	wallTime: number,
): Extract<RoundPlan, { kind: "update" }> {
	const outcome: Outcome = {
		result: "stopped",
		exitCode: EXIT_CODES.stopped,
		reason,
		root: null,
		endedAt: wallTime,
	};
	const plan = {
		kind: "update" as const,
		round: { ...view.round, outcome },
		budgets: new Map(),
	};
	const memory = observeRound(view, EMPTY_MEMORY, wallTime);
	return { ...plan, story: tellStory(view, plan, memory, wallTime) };
}
