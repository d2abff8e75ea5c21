import {
	currentPlaces,
	holderOf,
	inOrderOfArrival,
	isRefused,
	type NodeView,
	type Place,
	type RunSpec,
	type RunView,
	type SeatRecord,
} from "../rendezvous/index.js";
import { nodeBudget } from "./budgets.js";
import type { NodeStatus } from "./run-document.js";

/** The members of the newest round by rank, then the other agents in order of arrival. */
export function describeNodes(
	view: RunView,
	spec: RunSpec | undefined,
	wallTime: number,
): readonly Omit<NodeStatus, "workers">[] {
	const places = currentPlaces(view);
	const holders = new Set(places.map((place) => holderOf(view, place)));
	const others = [...view.nodes.values()].filter((node) => !holders.has(node));
	return [
		...places.map((place) => member(view, place, spec, wallTime)),
		...inOrderOfArrival(others).map((node) =>
			nonMember(view, node, spec, wallTime),
		),
	];
}

function member(
	view: RunView,
	place: Place,
	spec: RunSpec | undefined,
	wallTime: number,
): Omit<NodeStatus, "workers"> {
	const { nodeId, groupRank } = place;
	const seat = seatOf(view, nodeId);
	const holder = holderOf(view, place);
	const hasFinished = view.finished.has(nodeId);
	return {
		nodeId,
		part: "member",
		role: seat?.role ?? holder?.record.role ?? "default",
		groupRank,
		ranks: ranksOf(view, seat),
		...(holder ? agentOf(holder) : NOBODY),
		...(holder || !hasFinished ? {} : { state: "finished" as const }),
		restarts: nodeBudget(view, nodeId, spec, wallTime),
	};
}

function nonMember(
	view: RunView,
	node: NodeView,
	spec: RunSpec | undefined,
	wallTime: number,
): Omit<NodeStatus, "workers"> {
	const { nodeId, role } = node.record;
	const { synced, deprecated } = view.round;
	const waits = synced > deprecated ? "spare" : "waiting";
	return {
		nodeId,
		part: isRefused(view, node) ? "refused" : waits,
		role,
		groupRank: null,
		ranks: null,
		...agentOf(node),
		restarts: nodeBudget(view, nodeId, spec, wallTime),
	};
}

type Agent = Pick<
	NodeStatus,
	| "state"
	| "since"
	| "pid"
	| "address"
	| "hostId"
	| "workerPids"
	| "cause"
	| "notice"
>;

const NOBODY: Agent = {
	state: "gone",
	since: null,
	pid: null,
	address: null,
	hostId: null,
	workerPids: [],
	cause: null,
	notice: null,
};

function agentOf({ record }: NodeView): Agent {
	const { state, since, pid, address, hostId, pids, cause, notice } = record;
	return {
		...{ state, since, pid, address, hostId, workerPids: pids, cause },
		notice: notice ?? null,
	};
}

function seatOf(view: RunView, nodeId: string): SeatRecord | undefined {
	const seat = view.seats.get(nodeId);
	return seat !== undefined && "planId" in seat ? seat : undefined;
}

/** A seat already overwritten by an unfinished plan does not tell the ranks of the round before. */
function ranksOf(
	{ round }: RunView,
	seat: SeatRecord | undefined,
): readonly [number, number] | null {
	if (seat === undefined || seat.planId !== round.planId) return null;
	return [seat.firstRank, seat.firstRank + seat.localWorldSize - 1];
}
