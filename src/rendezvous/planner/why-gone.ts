import {
	currentPlaces,
	holderOf,
	isRecreated,
	type Place,
} from "../records/places.js";
import type { NodeFailure, NodeRecord } from "../records/records.js";
import type { RunView } from "../records/run-view.js";

/** Why a member of the last plan cannot be in another round; undefined if it may be in the next one. */
export function whyGone(view: RunView, place: Place): string | undefined {
	const { nodeId } = place;
	const said = lastWordOf(view, place);
	if (said?.state === "leaving") {
		return `${nodeId} left: ${said.cause ?? "no cause given"}`;
	}
	if (said !== undefined) return undefined;
	return isLost(view, place)
		? `${nodeId} left: lease expired`
		: `${nodeId} was restarted`;
}

/** Whether a member's lease has run out without a sign of life, and no new process of its node is there. */
export function isLost(view: RunView, place: Place): boolean {
	return lastWordOf(view, place) === undefined && !view.nodes.has(place.nodeId);
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

function lastWordOf(view: RunView, place: Place): NodeRecord | undefined {
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
 * Who pays for an incident: nobody, if one of these causes is found when the next round begins, one line each. Else the
 * budget that the policy has named.
 *
 *   a member of the last round              | another node's | the node of the failure | of a worker's wish
 *   ----------------------------------------|----------------|-------------------------|-------------------
 *   vanished, or is another process         | cause          | -                       | cause
 *   leaves because it was asked to          | cause          | cause                   | cause
 *   leaves for another reason               | cause          | -                       | cause
 *   could not rely on its lease             | cause          | -                       | -
 *   is only late, or had finished           | -              | -                       | -
 *   ends to be started again                | -              | -                       | -
 *
 * Where no node is known to be at fault, all count as other nodes.
 */
export function externalCauses(
	view: RunView,
	{ failure, isWish = false }: NodeFailure,
): readonly string[] {
	return neededPlaces(view).flatMap((place) => {
		if (isRecreated(view, place)) return [];
		if (failure.isUnattributed || place.nodeId !== failure.nodeId) {
			return whyGone(view, place) ?? whyFenced(view, place) ?? [];
		}
		const isFree = isWish || lastWordOf(view, place)?.isAsked === true;
		return (isFree ? whyGone(view, place) : undefined) ?? [];
	});
}
