import { holderOf, type Place } from "./order-members.js";
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
