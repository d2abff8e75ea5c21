import { isInOrder } from "../records/history-record.js";
import { holderOf } from "../records/places.js";
import type {
	NodeRecord,
	RoundCause,
	RoundRecord,
} from "../records/records.js";
import type { RunView } from "../records/run-view.js";
import type { PlannerConfig } from "./plan.js";
import { isLost, neededPlaces } from "./why-gone.js";

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
	const isAnyLost = neededPlaces(view).some((place) => isLost(view, place));
	if (!isAnyLost) return [];
	// In a round younger than that, the node may have been lost at any time.
	return [Math.max(wallTime - leaseTtlMs, view.story?.liftedAt ?? 0)];
}
