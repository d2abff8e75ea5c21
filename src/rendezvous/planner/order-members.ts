import { garbled } from "../records/record-codec.js";
import {
	type NodeRecord,
	RECORD_VERSION,
	type SeatRecord,
	type World,
} from "../records/records.js";
import type { NodeView, RunView } from "../records/run-view.js";

export type NonEmpty<Item> = readonly [Item, ...Item[]];

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

/**
 * The round's record and the seats of its plan are written together; while the round runs, all seats stay.
 * @throws ElasticRunError RENDEZVOUS_FAILED if seats of a running round are missing
 */
export function refuseMissingSeats(view: RunView, roundKey: string): void {
	const { synced, deprecated, seats, outcome } = view.round;
	const { length } = currentPlaces(view);
	if (synced === deprecated || outcome !== null || length === seats) return;
	throw garbled(
		{ key: roundKey },
		`its seats is ${seats}, but round ${synced} runs with ${length} seats that are there`,
	);
}

/** The live record of a place: of the same process, or of the one that was started in its stead; or none. */
export function holderOf(view: RunView, place: Place): NodeView | undefined {
	const node = view.nodes.get(place.nodeId);
	return node && isHeldBy(place, node.record) ? node : undefined;
}

function isHeldBy(
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

/** Gives each member its group rank, its global ranks and its ranks within its role, in the given order. */
export function assignSeats(
	view: RunView,
	members: NonEmpty<NodeView>,
	planId: string,
	round: number,
): { seats: ReadonlyMap<string, SeatRecord>; world: World } {
	const [master] = members;
	const places = new Map(
		currentPlaces(view).map((place) => [place.nodeId, place]),
	);
	const seats = new Map<string, SeatRecord>();
	// A role may be called "constructor", a property of every plain object.
	const roleWorldSizes = new Map<string, number>();
	let worldSize = 0;
	for (const [groupRank, { record }] of members.entries()) {
		const firstRoleRank = roleWorldSizes.get(record.role) ?? 0;
		const { nodeId, incarnation, localWorldSize, role } = record;
		const place = places.get(nodeId);
		const previous =
			place !== undefined &&
			isHeldBy(place, record) &&
			view.round.planId !== null
				? { planId: view.round.planId, groupRank: place.groupRank }
				: null;
		seats.set(nodeId, {
			version: RECORD_VERSION,
			planId,
			round,
			incarnation,
			groupRank,
			firstRank: worldSize,
			firstRoleRank,
			localWorldSize,
			role,
			previous,
		});
		worldSize += localWorldSize;
		roleWorldSizes.set(role, firstRoleRank + localWorldSize);
	}
	return {
		seats,
		world: {
			worldSize,
			groupWorldSize: members.length,
			roleWorldSizes: Object.fromEntries(roleWorldSizes),
			masterAddr: master.record.address,
			masterPort: master.record.masterPort,
		},
	};
}
