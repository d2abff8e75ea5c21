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

/** The agent that plans. */
export interface Planner {
	readonly incarnation: string;
	/** From when on no member works on without the store unless this agent says so; undefined: the head does not know it. */
	readonly knownFrom: number | undefined;
}

/** So many times to live of a lease after one of its members has ended, nobody works on without the store any more. */
const RIDES_END = 1.5;

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
	const { rideOutMs = 0, leaseTtlMs } = config;
	const { synced, head } = view.round;
	const places = currentPlaces(view);
	const areSome = rideOutMs > 0 && head !== undefined && places.length > 1;
	if (!areSome || now >= knownFrom) return undefined;
	if (places.some((place) => place.incarnation === incarnation)) {
		return undefined;
	}
	if (places.some((place) => isHere(view, place))) {
		const reason = `a member of round ${synced} plans`;
		return { ...wait(reason, { ...memory, riders: null }), handsOver: true };
	}
	const missing = places.filter((place) => !hasEnded(view, place));
	if (missing.length === 0) return undefined;
	const isOver = missing.length < places.length;
	const lastMs = isOver ? RIDES_END * leaseTtlMs : rideOutMs;
	const riders = deadlineFor(synced, memory.riders, lastMs, now);
	if (now >= riders.at) return undefined;
	const names = missing.map(({ nodeId }) => nodeId);
	return wait(
		`${names.join(", ")} may work on together without the store`,
		{ ...memory, riders },
		Math.min(riders.at, knownFrom),
		awaits("members", view, config, { here: [], missing: names }),
	);
}

function isHere(view: RunView, place: Place): boolean {
	return holderOf(view, place)?.record.incarnation === place.incarnation;
}

/**
 * Whether its process is certainly gone: it left in order, has died, or another one has its place. One that has finished may
 * live, and confirm the round.
 */
function hasEnded(view: RunView, place: Place): boolean {
	const { nodeId, incarnation } = place;
	return (
		holderOf(view, place) !== undefined ||
		view.left?.get(nodeId) === incarnation ||
		view.recreated?.get(nodeId) === incarnation
	);
}
