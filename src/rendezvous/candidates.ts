import {
	currentPlaces,
	holderOf,
	inOrderOfArrival,
	isReady,
	isRefused,
} from "./order-members.js";
import type { PlannerConfig } from "./plan.js";
import type { NodeView, RunView } from "./run-view.js";

/** Who could take part in the next round. */
export interface Candidates {
	/** Members of the last plan that are ready, in their order. */
	readonly members: readonly NodeView[];
	/** Members that hold their lease, are not leaving, and are not ready yet. */
	readonly late: readonly string[];
	/** How much longer than others one of these may need, as it says itself, in milliseconds. */
	readonly lateForMs: number;
	/** Members that vanished, and of whose node a new process is on its way. */
	readonly returning: readonly string[];
	/** Members of whose node nobody holds a lease. */
	readonly vanished: readonly string[];
	/** Ready nodes that were not members, in the order in which they came. */
	readonly newcomers: readonly NodeView[];
	/** Nodes that have done their part, and stay so. */
	readonly finished: readonly string[];
}

export function findCandidates(
	view: RunView,
	{ finishedStay = false }: PlannerConfig,
): Candidates {
	const finished = finishedStay ? [...view.finished, ...view.done] : [];
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
			if (successor === undefined) vanished.push(nodeId);
			else if (successor.state === "joining") returning.push(nodeId);
			continue;
		}
		memberIds.add(nodeId);
		if (holder.record.state === "leaving") continue;
		if (isReady(holder, target)) members.push(holder);
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
			isReady(node, target),
	);
	return {
		...{ members, late, lateForMs, returning, vanished, finished },
		newcomers: inOrderOfArrival(newcomers),
	};
}

/** All members are gone at once: rather the store was out of reach than every one of them has died. */
export function nobodyLeft(candidates: Candidates): boolean {
	const { members, late, returning, vanished, finished } = candidates;
	const isAnyLeft = members.length + late.length + finished.length > 0;
	return !isAnyLeft && returning.length + vanished.length > 0;
}
