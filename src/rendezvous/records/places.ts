import type { NodeRecord, Whereabouts } from "./records.js";
import type { NodeView, RunView } from "./run-view.js";

/** A member's place in the plan of the newest synced round. */
export interface Place {
	readonly nodeId: string;
	readonly incarnation: string;
	readonly groupRank: number;
	readonly role: string;
}

/**
 * The members of the newest synced round, in the order of their group ranks. A large plan writes its seats in several
 * transactions. If its coordinator died in between, the new seats still tell the old plan's.
 */
export function currentPlaces(view: RunView): readonly Place[] {
	const { planId } = view.round;
	const places: Place[] = [];
	for (const [nodeId, seat] of view.seats) {
		if (!("planId" in seat) || planId === null) continue;
		const place = seat.planId === planId ? seat : seat.previous;
		if (place?.planId !== planId) continue;
		const { incarnation, role } = seat;
		places.push({ nodeId, incarnation, groupRank: place.groupRank, role });
	}
	return places.sort((left, right) => left.groupRank - right.groupRank);
}

/** Where the process of a record is. */
export function whereaboutsOf(record: NodeRecord): Whereabouts {
	const { hostId, pid, startTime, machineId, network, address } = record;
	const linkPort = record.link?.port;
	return { hostId, pid, startTime, machineId, network, address, linkPort };
}

/** The live record of a place: of the same process, or of the one that was started in its stead; or none. */
export function holderOf(view: RunView, place: Place): NodeView | undefined {
	const node = view.nodes.get(place.nodeId);
	return node && isHeldBy(place, node.record) ? node : undefined;
}

/** Whether this process holds a place. */
export function isHeldBy(
	{ incarnation }: Place,
	record: Pick<NodeRecord, "incarnation" | "succeeds">,
): boolean {
	return record.incarnation === incarnation || record.succeeds === incarnation;
}

/** Whether its process has ended, or is ending, to be started again. */
export function isRecreated(
	{ recreated }: RunView,
	{ nodeId, incarnation }: Place,
): boolean {
	return recreated?.get(nodeId) === incarnation;
}

/** Whether a node could start workers of this round at once. */
export function isReady({ record }: NodeView, round: number): boolean {
	return record.state === "ready" && record.claim === round;
}

/** Whether this process may not take part any more. The next process of its node is judged afresh. */
export function isRefused(view: RunView, { record }: NodeView): boolean {
	const seat = view.seats.get(record.nodeId);
	return (
		seat !== undefined &&
		"refused" in seat &&
		seat.incarnation === record.incarnation
	);
}

export function idsOf(nodes: readonly NodeView[]): readonly string[] {
	return nodes.map(({ record }) => record.nodeId);
}

/**
 * Nodes that are not members: those last whose machine will go, because the round after the next one would cost a
 * restart; by the rank that they want, then in order of arrival.
 */
export function inOrderOfArrival(
	nodes: readonly NodeView[],
): readonly NodeView[] {
	return [...nodes].sort(
		(left, right) =>
			goes(left) - goes(right) ||
			placeWanted(left) - placeWanted(right) ||
			left.createRevision - right.createRevision,
	);
}

function goes({ record }: NodeView): number {
	return record.notice === undefined ? 0 : 1;
}

/** The largest number if it wants none: a difference must not be NaN. */
function placeWanted({ record }: NodeView): number {
	return record.nodeRank ?? Number.MAX_SAFE_INTEGER;
}

/** The records of a round's members that have not finished; undefined for one without a live record. */
export function workingHolders(
	view: RunView,
): readonly (NodeView | undefined)[] {
	return currentPlaces(view)
		.filter(({ nodeId }) => !view.finished.has(nodeId))
		.map((place) => holderOf(view, place));
}

/** When all members of a round ran, by their own records; null if one has not, or nobody is left who knows. */
export function startOfRound(view: RunView): number | null {
	const starts = workingHolders(view).flatMap((holder) =>
		holder === undefined ? [] : [startedSince(holder.record, view)],
	);
	return starts.length > 0 && starts.every((start) => start !== null)
		? Math.max(...starts)
		: null;
}

/** Since when a node has run the round, or ran it until it left; by its own clock. Null if unknown. */
function startedSince(
	{ state, since, claim, ranSince = 0 }: NodeRecord,
	{ round, story }: RunView,
): number | null {
	if (state === "running") return since;
	const hasLeft = state === "leaving" || claim > round.synced;
	// A node that has not run this round may have run an earlier one.
	return hasLeft && ranSince >= (story?.liftedAt ?? 1) ? ranSince : null;
}
