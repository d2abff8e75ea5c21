import type { NodeView, RunView } from "../records/run-view.js";
import {
	currentPlaces,
	holderOf,
	inOrderOfArrival,
	isReady,
	isRecreated,
	isRefused,
	type Place,
} from "./order-members.js";
import type { PlannerConfig } from "./plan.js";
import { isReadyInScope, isRestarting, staysFinished } from "./role-scope.js";

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
	{ finishedStay = false }: PlannerConfig,
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

/** Finished nodes count, but at least one node must do the remaining work. */
export function describeReady(
	ready: number,
	finished: number,
	{ minNodes }: PlannerConfig,
): string {
	if (finished === 0) return `${ready} of at least ${minNodes} nodes are ready`;
	const words = `${ready} ready and ${finished} finished, of at least ${minNodes} nodes`;
	return ready === 0 ? `${words}; no node is left for the rest` : words;
}
