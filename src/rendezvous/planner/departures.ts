import { currentPlaces, holderOf, type Place } from "../records/places.js";
import type { NodeRecord } from "../records/records.js";
import type { RunView } from "../records/run-view.js";

/** Why a member of the last plan cannot be in another round; undefined if it may be in the next one. */
export function whyGone(view: RunView, place: Place): string | undefined {
	const { nodeId } = place;
	const said = lastWordOf(view, place);
	if (said?.state === "leaving") {
		return `${nodeId} left: ${said.cause ?? "no cause given"}`;
	}
	if (said !== undefined) return undefined;
	if (hasDied(view, place)) return `${nodeId} left: its launcher died`;
	return isLost(view, place)
		? `${nodeId} left: lease expired`
		: `${nodeId} was restarted`;
}

/** Whether a member's guard has said that it died, and no new process of its node is there. */
export function hasDied(view: RunView, place: Place): boolean {
	const { nodeId, incarnation } = place;
	return isLost(view, place) && view.died?.get(nodeId) === incarnation;
}

/** Whether a member's lease has run out without a sign of life, and no new process of its node is there. */
export function isLost(view: RunView, place: Place): boolean {
	return lastWordOf(view, place) === undefined && !view.nodes.has(place.nodeId);
}

/** Whether a member's machine was taken away, with a notice or without one. */
export function isPreempted(view: RunView, place: Place): boolean {
	const said = lastWordOf(view, place);
	const isNoticed = said?.state === "leaving" && said.notice !== undefined;
	return isNoticed || (isLost(view, place) && !hasDied(view, place));
}

/** The members of the last plan that are leaving, or were seen leaving before they vanished, by incarnation. */
export function leaversOf(view: RunView): ReadonlyMap<string, NodeRecord> {
	return new Map(
		currentPlaces(view).flatMap((place) => {
			const said = lastWordOf(view, place);
			const isLeaving = said?.state === "leaving";
			return isLeaving ? [[place.incarnation, said]] : [];
		}),
	);
}

/** The present record of a place, or what it said as it left. */
export function lastWordOf(
	view: RunView,
	place: Place,
): NodeRecord | undefined {
	return holderOf(view, place)?.record ?? view.leavers?.get(place.incarnation);
}

/** Why a member has ended or paused its workers although nothing failed and no node had left the round. */
export function whyFenced(view: RunView, place: Place): string | undefined {
	return holderOf(view, place)?.record.fencedIn === view.round.synced
		? `${place.nodeId} was cut off from the store`
		: undefined;
}

/** The members of the last plan whose departure ends a round. A finished member may go without effect. */
export function neededPlaces(view: RunView): readonly Place[] {
	return currentPlaces(view).filter(({ nodeId }) => !view.finished.has(nodeId));
}

/**
 * Whether a coordinator resigns: its node leaves the run, so its machine may soon be gone, and another node stays that
 * can take over.
 */
export function handsOver(
	{ nodes, round }: Pick<RunView, "nodes" | "round">,
	{ nodeId, incarnation }: Pick<NodeRecord, "nodeId" | "incarnation">,
): boolean {
	const own = nodes.get(nodeId)?.record;
	const isLeaving = own?.incarnation === incarnation && own.state === "leaving";
	return (
		isLeaving &&
		round.outcome === null &&
		[...nodes.values()].some(({ record }) => record.state !== "leaving")
	);
}
