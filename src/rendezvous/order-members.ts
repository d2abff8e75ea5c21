import { RECORD_VERSION, type SeatRecord, type World } from "./records.js";
import type { NodeView, RunView } from "./run-view.js";

export type NonEmpty<Item> = readonly [Item, ...Item[]];

/** The seats of the current plan, in the order of their group ranks. */
export function currentSeats(view: RunView): readonly SeatRecord[] {
	const seats: SeatRecord[] = [];
	for (const seat of view.seats.values()) {
		if ("planId" in seat && seat.planId === view.round.planId) seats.push(seat);
	}
	return seats.sort((left, right) => left.groupRank - right.groupRank);
}

/** The live record behind a seat: of the same incarnation, or none. */
export function seatHolder(
	view: RunView,
	nodeId: string,
	seat: SeatRecord,
): NodeView | undefined {
	const node = view.nodes.get(nodeId);
	return node?.record.incarnation === seat.incarnation ? node : undefined;
}

/** Nodes that are not members, in the order in which they came. */
export function inOrderOfArrival(
	nodes: readonly NodeView[],
): readonly NodeView[] {
	return [...nodes].sort(
		(left, right) => left.createRevision - right.createRevision,
	);
}

/** Gives each member its group rank, its global ranks and its ranks within its role, in the given order. */
export function assignSeats(
	members: NonEmpty<NodeView>,
	planId: string,
	round: number,
): { seats: ReadonlyMap<string, SeatRecord>; world: World } {
	const [master] = members;
	const seats = new Map<string, SeatRecord>();
	const roleWorldSizes: Record<string, number> = {};
	let worldSize = 0;
	for (const [groupRank, { record }] of members.entries()) {
		const firstRoleRank = roleWorldSizes[record.role] ?? 0;
		seats.set(record.nodeId, {
			version: RECORD_VERSION,
			planId,
			round,
			incarnation: record.incarnation,
			groupRank,
			firstRank: worldSize,
			firstRoleRank,
			localWorldSize: record.localWorldSize,
			role: record.role,
		});
		worldSize += record.localWorldSize;
		roleWorldSizes[record.role] = firstRoleRank + record.localWorldSize;
	}
	return {
		seats,
		world: {
			worldSize,
			groupWorldSize: members.length,
			roleWorldSizes,
			masterAddr: master.record.address,
			masterPort: master.record.masterPort,
		},
	};
}
