import {
	currentPlaces,
	holderOf,
	inOrderOfArrival,
	isReady,
	isRecreated,
	isRefused,
	type Place,
} from "./places.js";
import type { RoundRecord } from "./records.js";
import type { RunSpec } from "./run-spec.js";
import type { NodeView, RunView } from "./run-view.js";

/** The nodes that could take part in the next round. */
export interface Candidates {
	/** Members of the last plan that are ready, in their order. */
	readonly members: readonly NodeView[];
	/** Members that hold their lease, are not leaving, and are not ready yet. */
	readonly late: readonly string[];
	/** How much longer than usual one of these may need, by its own record, in milliseconds. */
	readonly lateForMs: number;
	/** Members that vanished and whose node already has a new process, or that are started again. */
	readonly returning: readonly string[];
	/** Members that vanished without having said so, and whose node holds no lease. */
	readonly vanished: readonly string[];
	/** Ready nodes that were not members, in order of arrival. */
	readonly newcomers: readonly NodeView[];
	/** Nodes that have finished and stay so. */
	readonly finished: readonly string[];
}

export function findCandidates(
	view: RunView,
	{ finishedStay = false }: Pick<RunSpec, "finishedStay">,
): Candidates {
	const finished = [...view.finished, ...view.done].filter(
		(nodeId) => finishedStay || staysFinished(view, nodeId),
	);
	const target = view.round.synced + 1;
	const members: NodeView[] = [];
	const late: string[] = [];
	const returning: string[] = [];
	const vanished: string[] = [];
	const memberIds = new Set<string>();
	let lateForMs = 0;
	for (const place of currentPlaces(view)) {
		const { nodeId } = place;
		const holder = holderOf(view, place);
		if (finished.includes(nodeId)) {
			memberIds.add(nodeId);
			continue;
		}
		if (holder === undefined) {
			const successor = view.nodes.get(nodeId)?.record;
			if (isRecreated(view, place)) returning.push(nodeId);
			else if (view.replaced?.has(nodeId)) continue;
			else if (successor?.state === "joining") returning.push(nodeId);
			else if (successor === undefined && !hasLeft(view, place))
				vanished.push(nodeId);
			continue;
		}
		memberIds.add(nodeId);
		if (holder.record.state === "leaving") {
			if (isRecreated(view, place)) returning.push(nodeId);
			continue;
		}
		if (isReadyInScope(view, holder, target)) members.push(holder);
		else {
			late.push(nodeId);
			lateForMs = Math.max(lateForMs, holder.record.awaitsWorkersMs ?? 0);
		}
	}
	const newcomers = [...view.nodes.values()].filter(
		(node) =>
			!memberIds.has(node.record.nodeId) &&
			!finished.includes(node.record.nodeId) &&
			!isRefused(view, node) &&
			isRestarting(view.round, node.record.role) &&
			isReady(node, target),
	);
	return {
		...{ members, late, lateForMs, returning, vanished, finished },
		newcomers: inOrderOfArrival(newcomers),
	};
}

/** It left in order, and is not expected back. */
function hasLeft({ left }: RunView, { nodeId, incarnation }: Place): boolean {
	return left?.get(nodeId) === incarnation;
}

/** All members are gone at once: more likely the store was unreachable than that all have died. */
export function nobodyLeft(candidates: Candidates): boolean {
	const { members, late, returning, vanished, finished } = candidates;
	const isAnyLeft = members.length + late.length + finished.length > 0;
	return !isAnyLeft && returning.length + vanished.length > 0;
}

/**
 * Members of the last round that are not here. Nodes that left because they were refused are included: their seats say
 * only that.
 */
export function missingFrom(
	view: RunView,
	here: readonly string[],
): readonly string[] {
	const members = currentPlaces(view).map(({ nodeId }) => nodeId);
	const refused = [...view.seats].flatMap(([nodeId, seat]) =>
		"refused" in seat ? [nodeId] : [],
	);
	return [...members, ...refused].filter((nodeId) => !here.includes(nodeId));
}

/**
 * Nodes without a seat in the running plan that could join the next round at once. A node that claims an older round has
 * not seen this one run: it would have no seat in the next round.
 */
export function newcomersOf(view: RunView): readonly NodeView[] {
	const target = view.round.synced + 1;
	const nodes = [...view.nodes.values()].filter((node) => {
		const seat = view.seats.get(node.record.nodeId);
		const isFree = seat === undefined || "refused" in seat;
		return isFree && !isRefused(view, node) && isReady(node, target);
	});
	return inOrderOfArrival(nodes);
}

/** Whether a role restarts in the next round: all do, unless the cause names others. */
export function isRestarting({ cause }: RoundRecord, role: string): boolean {
	return cause.roles?.includes(role) ?? true;
}

/** Whether a node could be in the next round: at once, or with workers that run on. */
function isReadyInScope(
	{ round }: RunView,
	node: NodeView,
	target: number,
): boolean {
	const { runsOn = false, role } = node.record;
	return isReady(node, target) && !(runsOn && isRestarting(round, role));
}

/** Whether this node's finished work stays done when the round is left. */
function staysFinished(view: RunView, nodeId: string): boolean {
	const role = view.nodes.get(nodeId)?.record.role ?? roleOfSeat(view, nodeId);
	if (view.round.cause.roles === undefined) return false;
	return role === undefined || !isRestarting(view.round, role);
}

function roleOfSeat({ seats }: RunView, nodeId: string): string | undefined {
	const seat = seats.get(nodeId);
	return seat && "role" in seat ? seat.role : undefined;
}
