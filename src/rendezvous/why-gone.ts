import { currentPlaces, holderOf, type Place } from "./order-members.js";
import type { RunView } from "./run-view.js";

/** Why a member of the last plan is in no round any more; undefined: it may be in the next one. */
export function whyGone(view: RunView, place: Place): string | undefined {
	const { nodeId } = place;
	const holder = holderOf(view, place);
	if (holder !== undefined) {
		const { state, cause } = holder.record;
		if (state !== "leaving") return undefined;
		return `${nodeId} left: ${cause ?? "no cause given"}`;
	}
	// A new process of the same node may be there already.
	return view.nodes.has(nodeId)
		? `${nodeId} was started anew`
		: `${nodeId} left: lease expired`;
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

/** What befell other nodes than this one, and may have ended its workers; one line each. */
export function whatBefellPeers(
	view: RunView,
	nodeId: string,
): readonly string[] {
	return neededPeers(view, nodeId).flatMap(
		(place) => whyGone(view, place) ?? whyFenced(view, place) ?? [],
	);
}
