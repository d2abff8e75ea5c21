import {
	mainLimit,
	NOTHING,
	nodeLimit,
	spentOnNode,
	UNUSED,
} from "../records/budgets.js";
import {
	currentPlaces,
	holderOf,
	inOrderOfArrival,
	isRefused,
	type Place,
} from "../records/places.js";
import type { BudgetRecord, SeatRecord } from "../records/records.js";
import type { RunSpec } from "../records/run-spec.js";
import type { NodeView, RunView } from "../records/run-view.js";
import { budgetOwner } from "./budget-words.js";
import { budgetOf, type NodeStatus, type RestartBudget } from "./run-status.js";

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

/** Of all budgets of a node and its workers, the one with the least left. */
export function nodeBudget(
	view: RunView,
	nodeId: string,
	spec: RunSpec | undefined,
	wallTime: number,
): NodeStatus["restarts"] {
	if (spec === undefined) return null;
	const record = view.budgets.get(nodeId) ?? UNUSED;
	const { main, own } = budgetsOn(record, spec, wallTime);
	return leastOf([...main, ...own]);
}

/** As `nodeBudget`; null as well if failures of this run are charged to no node and no worker. */
export function ownBudget(
	record: BudgetRecord | undefined,
	spec: RunSpec,
	wallTime: number,
): NodeStatus["restarts"] {
	const { main, own } = budgetsOn(record ?? UNUSED, spec, wallTime);
	const isOwner = budgetOwner(spec.policy) !== undefined;
	// A policy of the user's own may charge a node: only what it has charged shows that.
	const charged = main.filter(({ used }) => isOwner || used > 0);
	return leastOf([...charged, ...own]);
}

/** What `--max-restarts` allows this node and each of its workers, and what `--max-node-restarts` allows it. */
function budgetsOn(record: BudgetRecord, spec: RunSpec, wallTime: number) {
	const { node, workers } = spentOnNode(record);
	const main = [node, ...workers.values()].map((spent) =>
		budgetOf(mainLimit(spec), spent, wallTime),
	);
	const limit = nodeLimit(spec);
	const failures = record.failures ?? NOTHING;
	return { main, own: limit ? [budgetOf(limit, failures, wallTime)] : [] };
}

function leastOf(budgets: readonly RestartBudget[]): RestartBudget | null {
	const [least] = [...budgets].sort(
		(one, other) => one.left - other.left || other.used - one.used,
	);
	return least ?? null;
}
