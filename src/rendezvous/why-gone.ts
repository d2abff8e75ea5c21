import { currentPlaces, holderOf, type Place } from "./order-members.js";
import type { NodeRecord } from "./records.js";
import type { RunView } from "./run-view.js";

/** Why a member of the last plan is in no round any more; undefined: it may be in the next one. */
export function whyGone(view: RunView, place: Place): string | undefined {
	const { nodeId } = place;
	const said = lastWordOf(view, place);
	if (said?.state === "leaving") {
		return `${nodeId} left: ${said.cause ?? "no cause given"}`;
	}
	if (said !== undefined) return undefined;
	// A new process of the same node may be there already.
	return view.nodes.has(nodeId)
		? `${nodeId} was started anew`
		: `${nodeId} left: lease expired`;
}

/** The members of the last plan that leave, or were seen to leave before they were gone, by incarnation. */
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

/** Why a member has ended or paused its workers though nothing failed and nobody had left the round. */
export function whyFenced(view: RunView, place: Place): string | undefined {
	return holderOf(view, place)?.record.fencedIn === view.round.synced
		? `${place.nodeId} was cut off from the store`
		: undefined;
}

/** The members of the last plan whose going ends a round: who has finished may go without effect. */
export function neededPlaces(view: RunView): readonly Place[] {
	return currentPlaces(view).filter(({ nodeId }) => !view.finished.has(nodeId));
}

/** The same without one of them. */
export function neededPeers(view: RunView, of: string): readonly Place[] {
	return neededPlaces(view).filter(({ nodeId }) => nodeId !== of);
}

/**
 * What may have ended workers of this node other than a failure of their own; one
 * line each: other nodes have gone, or were cut off, or it was itself told to go,
 * in which case somebody may have told its workers too.
 */
export function whatElseBefell(
	view: RunView,
	nodeId: string,
): readonly string[] {
	return neededPlaces(view).flatMap((place) => {
		const why =
			place.nodeId === nodeId
				? whyAsked(view, place)
				: (whyGone(view, place) ?? whyFenced(view, place));
		return why ?? [];
	});
}

function whyAsked(view: RunView, place: Place): string | undefined {
	return lastWordOf(view, place)?.isAsked ? whyGone(view, place) : undefined;
}
