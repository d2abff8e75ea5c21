import { awaits } from "../records/awaited.js";
import { currentPlaces, holderOf, type Place } from "../records/places.js";
import type { RunView } from "../records/run-view.js";
import {
	deadlineFor,
	type PlannerConfig,
	type PlannerMemory,
	type PlanResult,
	wait,
} from "./plan.js";

export interface Planner {
	readonly incarnation: string;
	/** From when on no member works on without the store unless this agent says so; undefined: the head does not know it. */
	readonly knownFrom: number | undefined;
}

/** Of the run's spec. */
type RideLimits = Pick<PlannerConfig, "rideOutMs" | "leaseTtlMs" | "maxNodes">;

/**
 * Times of a lease: how old an answer of one agent may be when its head permits all to go on without the store; how long
 * each may go on after its answer, so that an agent that waits for seconds for a busy machine does not end the ride of all.
 */
export const ANSWER_COUNTS_FOR = 0.5;
export const PERMITTED_FOR = 3;
/** As long after an agent has answered last, nobody goes on for whose permission its answer was needed. */
export const RIDES_END = PERMITTED_FOR + ANSWER_COUNTS_FOR;

/**
 * The members of a round may work on without the store while all of them confirm it to one another: see ride.ts. An agent
 * that they do not ask plans nothing meanwhile. It hands over to a member that is there; if none is, it waits until their
 * time is over.
 */
export function planRiders(
	view: RunView,
	memory: PlannerMemory,
	config: PlannerConfig,
	now: number,
	{ incarnation, knownFrom = Number.POSITIVE_INFINITY }: Planner,
): PlanResult | undefined {
	const { synced } = view.round;
	const places = currentPlaces(view);
	if (!mayRide(view, config) || now >= knownFrom) return undefined;
	if (places.some((place) => place.incarnation === incarnation)) {
		return undefined;
	}
	// Who seems to be here may be cut off since, and ride: its lease lives on for a while.
	if (places.some((place) => isHere(view, place) && !hasEnded(view, place))) {
		const reason = `a member of round ${synced} plans`;
		return { ...wait(reason, { ...memory, riders: null }), handsOver: true };
	}
	const unseen = unseenRiders(view, config);
	if (unseen === undefined) return undefined;
	const known = deadlineFor(synced, memory.riders, unseen.lastMs, now);
	// One of them may have ended since.
	const at = Math.min(known.at, now + unseen.lastMs);
	if (now >= at) return undefined;
	const riders = { round: synced, at };
	const { names } = unseen;
	return wait(
		ridersInWords(names),
		{ ...memory, riders },
		Math.min(riders.at, knownFrom),
		awaits("riders", view, config, { here: [], missing: names }),
	);
}

export interface UnseenRiders {
	/** How long they may work on, at most, counted from when this was seen. */
	readonly lastMs: number;
	readonly names: readonly string[];
}

/** The members that may work on without the store; undefined if none may. */
export function unseenRiders(
	view: RunView,
	limits: RideLimits,
): UnseenRiders | undefined {
	if (!mayRide(view, limits)) return undefined;
	const { rideOutMs = 0, leaseTtlMs } = limits;
	const places = currentPlaces(view);
	const missing = places.filter(
		(place) => !isHere(view, place) && !hasEnded(view, place),
	);
	if (missing.length === 0) return undefined;
	const isOver = missing.length < places.length;
	const lastMs = isOver ? RIDES_END * leaseTtlMs : rideOutMs;
	return { lastMs, names: missing.map(({ nodeId }) => nodeId) };
}

function mayRide(view: RunView, limits: RideLimits): boolean {
	const { rideOutMs = 0, maxNodes } = limits;
	const areEnough = currentPlaces(view).length > 1 || maxNodes === 1;
	return rideOutMs > 0 && view.round.head !== undefined && areEnough;
}

export function ridersInWords(names: readonly string[]): string {
	return `${names.join(", ")} may work on together without the store`;
}

function isHere(view: RunView, place: Place): boolean {
	return holderOf(view, place)?.record.incarnation === place.incarnation;
}

/**
 * Whether its process confirms no round any more: it has said that it leaves, has died, or another one has its place. One
 * that has finished may live, and confirm the round.
 */
function hasEnded(view: RunView, place: Place): boolean {
	const { nodeId, incarnation } = place;
	return (
		(holderOf(view, place) !== undefined && !isHere(view, place)) ||
		view.left?.get(nodeId) === incarnation ||
		view.recreated?.get(nodeId) === incarnation
	);
}
