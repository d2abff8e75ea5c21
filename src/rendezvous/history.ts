import { currentPlaces } from "./order-members.js";
import type { PlannerMemory, RoundPlan } from "./plan.js";
import {
	type Outcome,
	RECORD_VERSION,
	type RoundCause,
	type RoundRecord,
} from "./records.js";
import type { RunView } from "./run-view.js";

/** How many lines of a run's history are kept: the newest. */
export const KEPT_ROUNDS = 200;

/**
 * `history/<round>`: one line of the run's story, written when the round's
 * barrier lifts and completed when the round is left. Times are milliseconds
 * since 1970 by the coordinator's clock, unless another is named.
 */
export interface HistoryRecord {
	readonly version: 1;
	readonly instance: number;
	readonly round: number;
	/** Why it was begun: what ended the round before it. */
	readonly cause: RoundCause;
	/** Incidents of the instance before it. */
	readonly incidents: number;
	readonly worldSize: number;
	/** Node ids in the order of their group ranks. */
	readonly members: readonly string[];
	/** Members that the round before did not have, and those of it that are no longer there. */
	readonly joined: readonly string[];
	readonly left: readonly string[];
	/** When the end of the round before was seen; of an instance's first round, when that began. Null: not known. */
	readonly begunAt: number | null;
	/** When the last of the members that stayed had ended its workers, by the nodes' own clocks; null: none stayed. */
	readonly stoppedAt: number | null;
	/** When the last of its members was seen to be ready. */
	readonly readyAt: number;
	/** When its barrier was lifted. */
	readonly liftedAt: number;
	/** When all members were seen to run; null: not yet, or not before it was left. */
	readonly startedAt: number | null;
	/** When its end was seen; null while it runs. */
	readonly endedAt: number | null;
	/** Why it ended, in words; null while it runs. */
	readonly ending: string | null;
	/** How the run ended with it; null: it did not. */
	readonly outcome: Outcome["result"] | null;
}

/** What a plan adds to the run's history: a round begins, or ends; undefined where it does neither. */
export function tellStory(
	view: RunView,
	plan: RoundPlan,
	memory: PlannerMemory,
	wallTime: number,
): HistoryRecord | undefined {
	if (plan.kind === "lift") return opening(view, plan, memory, wallTime);
	const wasRunning = view.round.synced > view.round.deprecated;
	return wasRunning ? closing(view, plan.round, memory, wallTime) : undefined;
}

function opening(
	view: RunView,
	{ round, seats }: Extract<RoundPlan, { kind: "lift" }>,
	memory: PlannerMemory,
	wallTime: number,
): HistoryRecord {
	const isFirst = view.round.planId === null;
	const members = [...seats.keys()];
	const before = currentPlaces(view).map(({ nodeId }) => nodeId);
	const stayed = new Set(
		members.filter((nodeId) => seats.get(nodeId)?.previous),
	);
	return {
		version: RECORD_VERSION,
		instance: round.instance,
		round: round.synced,
		cause: round.cause,
		incidents: round.incidents,
		worldSize: round.world?.worldSize ?? 0,
		members,
		joined: members.filter((nodeId) => !stayed.has(nodeId)),
		left: before.filter((nodeId) => !stayed.has(nodeId)),
		begunAt: isFirst ? round.instance : (view.story?.endedAt ?? null),
		stoppedAt: latestOf(view, [...stayed]),
		readyAt: memory.times?.readyAt ?? wallTime,
		liftedAt: wallTime,
		startedAt: null,
		endedAt: null,
		ending: null,
		outcome: null,
	};
}

/** A line that somebody has deleted is not written again. */
function closing(
	{ story }: RunView,
	{ outcome, cause }: RoundRecord,
	memory: PlannerMemory,
	wallTime: number,
): HistoryRecord | undefined {
	if (story === undefined) return undefined;
	return {
		...story,
		startedAt: memory.times?.startedAt ?? null,
		endedAt: wallTime,
		ending: outcome?.reason ?? cause.reason,
		outcome: outcome?.result ?? null,
	};
}

/** The latest time since when one of these nodes is in its present state, as they say themselves. */
function latestOf(view: RunView, nodeIds: readonly string[]): number | null {
	const times = nodeIds.flatMap(
		(nodeId) => view.nodes.get(nodeId)?.record.since ?? [],
	);
	return times.length === 0 ? null : Math.max(...times);
}
