import type { Observer } from "../http/observer.js";
import type { AgentState } from "../state.js";
import { PinnedView, type PinnedViewOptions } from "./pinned-view.js";

/** Whoever is to know each new state of an agent, as one; undefined: nobody. */
export function stateFollower(
	name: Pick<PinnedViewOptions, "runId" | "nodeId">,
	place: Pick<PinnedViewOptions, "clock"> & {
		readonly screen: Pick<PinnedViewOptions, "show"> | undefined;
	},
	observer: Observer | undefined,
): ((state: AgentState) => void) | undefined {
	const { clock, screen } = place;
	const { runId, nodeId } = name;
	const view =
		screen && new PinnedView({ clock, runId, nodeId, show: screen.show });
	if (view === undefined) return observer?.follow;
	if (observer === undefined) return view.follow;
	return (state) => {
		view.follow(state);
		observer.follow(state);
	};
}
