import { type HistoryRecord, isInOrder } from "../records/history-record.js";
import { currentPlaces, holderOf } from "../records/places.js";
import {
	type NodeRecord,
	RECORD_VERSION,
	type RoundCause,
	type RoundRecord,
} from "../records/records.js";
import type { RunView } from "../records/run-view.js";
import { hasDied, isLost, neededPlaces } from "./departures.js";
import type { PlannerConfig, PlannerMemory, RoundPlan } from "./plan.js";

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

type LeaseTime = Pick<PlannerConfig, "leaseTtlMs">;

/**
 * Adds to a round's cause how long ago its first sign was. A sign is: a worker ended or waited for another round, a node
 * began to end or pause its workers, the last keepalive of a lost node arrived. Later findings about the same end do not
 * change it. It only informs people and decides nothing.
 * @param wallTime milliseconds since 1970
 */
export function withFirstSign(
	view: RunView,
	{ deprecated, cause }: Pick<RoundRecord, "deprecated" | "cause">,
	config: LeaseTime,
	wallTime: number,
): RoundCause {
	const { round } = view;
	if (deprecated > round.deprecated) {
		const ms = wallTime - firstSign(view, config, wallTime);
		const isMissed = cause.kind !== "scale-up" && ms > 0;
		return { ...cause, noticedAfterMs: isMissed ? ms : undefined };
	}
	const isOpen = round.deprecated >= round.synced;
	return isOpen && cause !== round.cause
		? { ...cause, noticedAfterMs: round.cause.noticedAfterMs }
		: cause;
}

function firstSign(view: RunView, config: LeaseTime, wallTime: number): number {
	const liftedAt = view.story?.liftedAt ?? null;
	const known = [...told(view), ...lost(view, config, wallTime)].filter(
		(at) => isInOrder(liftedAt, at) && isInOrder(at, wallTime),
	);
	const first = Math.min(wallTime, ...known);
	return liftedAt === null
		? first
		: Math.min(wallTime, Math.max(liftedAt, first));
}

/** The times in the members' records, by their own clocks. */
function told(view: RunView): readonly number[] {
	const { synced } = view.round;
	return neededPlaces(view).flatMap((place) => {
		const record = holderOf(view, place)?.record;
		return record === undefined ? [] : signsOf(record, synced);
	});
}

function signsOf(
	{ state, claim, failure, ranUntil }: NodeRecord,
	round: number,
): readonly number[] {
	const hasLeft = state === "leaving" || claim > round;
	const failed = failure?.failure.round === round ? failure.failure : undefined;
	return [
		...(hasLeft && ranUntil !== undefined ? [ranUntil] : []),
		...(failed === undefined ? [] : [failed.timestamp]),
	];
}

/** A lease expires one time to live after the last keepalive that arrived, or somewhat later. */
function lost(
	view: RunView,
	{ leaseTtlMs }: LeaseTime,
	wallTime: number,
): readonly number[] {
	const isAnyLost = neededPlaces(view).some(
		(place) => isLost(view, place) && !hasDied(view, place),
	);
	if (!isAnyLost) return [];
	// In a round younger than that, the node may have been lost at any time.
	return [Math.max(wallTime - leaseTtlMs, view.story?.liftedAt ?? 0)];
}
