import { EXIT_CODES } from "../../errors.js";
import type { FailureRecord } from "../../rendezvous/failure.js";
import type { RoundView } from "../../rendezvous/membership.js";
import type { Outcome } from "../../rendezvous/records.js";
import type { AgentState, Closed, Ending, Left } from "../state.js";
import type { Transition } from "./step.js";

/** The end that the run's own outcome brings. */
export function endingOf(outcome: Outcome): Ending {
	return {
		outcome: outcome.result,
		exitCode: outcome.exitCode,
		reason: outcome.reason,
		root: outcome.root,
	};
}

/** This node goes; the run may go on elsewhere. `root`: the failure of its own for which it goes, if it does. */
export function leftWith(
	exitCode: number,
	reason: string,
	root: FailureRecord | null = null,
): Ending {
	return { outcome: "left", exitCode, reason, root };
}

/** Where the run under this id is no longer the one that this process belongs to: why it must leave it. */
export function foreignInstance(
	state: AgentState,
	view: RoundView,
): Ending | undefined {
	const { instance } = view.round;
	const own = state.instance ?? view.joined ?? instance;
	if (own === instance) return undefined;
	return leftWith(
		EXIT_CODES.rendezvous,
		`the run was started anew meanwhile (instance ${instance} instead of ${own})`,
	);
}

/** The last round that it had left when its session was lost, and of which it had not heard that it was over. */
export function cutOffIn({ view, round, fencedIn }: Left): number | undefined {
	return (view?.round.deprecated ?? 0) < round ? round : fencedIn;
}

/** The agent's part is over. */
export function close(state: AgentState, ending: Ending): Transition {
	const closed: Closed = {
		phase: "CLOSED",
		view: state.view,
		instance: state.instance,
		failure: state.failure,
		failuresReported: state.failuresReported,
		ending,
	};
	return { state: closed, effects: [], reason: ending.reason };
}
