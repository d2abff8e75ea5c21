import type { HistoryRecord } from "../records/history-record.js";
import { currentPlaces } from "../records/places.js";
import { RECORD_VERSION, type RoundRecord } from "../records/records.js";
import type { RunView } from "../records/run-view.js";
import type { PlannerMemory, RoundPlan } from "./plan.js";

/** A plan's entry for the run's history: a round begins or ends; undefined otherwise. */
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

/** A deleted line is not written again. */
function closing(
	{ story, round }: RunView,
	{ outcome, cause, deprecated }: RoundRecord,
	memory: PlannerMemory,
	wallTime: number,
): HistoryRecord | undefined {
	if (story === undefined) return undefined;
	// A round that ends well or is stopped was not left: its cause is still why it began.
	const isLeft = deprecated > round.deprecated;
	return {
		...story,
		startedAt: memory.times?.startedAt ?? null,
		endedAt: wallTime,
		noticedAfterMs: isLeft ? cause.noticedAfterMs : undefined,
		ending: outcome?.reason ?? cause.reason,
		outcome: outcome?.result ?? null,
	};
}

/** The latest time at which one of these nodes entered its present state, by the nodes' own clocks. */
function latestOf(view: RunView, nodeIds: readonly string[]): number | null {
	const times = nodeIds.flatMap(
		(nodeId) => view.nodes.get(nodeId)?.record.since ?? [],
	);
	return times.length === 0 ? null : Math.max(...times);
}
