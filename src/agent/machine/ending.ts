import { EXIT_CODES } from "../../base/errors.js";
import type { ExitCodeConfig } from "../../config/agent-config.js";
import type { RoundView } from "../../rendezvous/member/membership.js";
import type { FailureRecord } from "../../rendezvous/records/failure.js";
import type { Outcome } from "../../rendezvous/records/records.js";
import type { AgentState, Closed, Ending, Left } from "./state.js";
import type { Transition } from "./step.js";

/** The agent's ending that follows from the run's outcome. */
export function endingOf(outcome: Outcome): Ending {
	return {
		outcome: outcome.result,
		exitCode: outcome.exitCode,
		reason: outcome.reason,
		root: outcome.root,
		repeated: outcome.repeated,
	};
}

/** This node leaves; the run may continue elsewhere. `root`: its own failure that made it leave, if any. */
export function leftWith(
	exitCode: number,
	reason: string,
	root: FailureRecord | null = null,
): Ending {
	return { outcome: "left", exitCode, reason, root };
}

/** The exit code of this ending, as the user has chosen it. */
export function chosenCode(
	{ outcome, exitCode, root }: Ending,
	{ replaceNode, restart, isPropagated }: ExitCodeConfig,
): number {
	if (outcome === "left") {
		if (exitCode === EXIT_CODES.replaceNode) return replaceNode;
		return exitCode === EXIT_CODES.restart ? restart : exitCode;
	}
	const isItsRoots = outcome === "failed" && exitCode === EXIT_CODES.failed;
	return (isPropagated && isItsRoots && root?.exitCode) || exitCode;
}

/** What the run's end means for this agent. The success of another command is not its success. */
export function ownEnding(ending: Ending, isOwnCommand: boolean): Ending {
	if (isOwnCommand || ending.outcome !== "succeeded") return ending;
	return leftWith(
		EXIT_CODES.rendezvous,
		"the run succeeded with another command than this agent's, which did not run",
	);
}

/** Why this process must leave: the run with this id is no longer the one that it joined. Undefined otherwise. */
export function foreignInstance(
	state: AgentState,
	view: RoundView,
): Ending | undefined {
	const { instance } = view.round;
	const own = state.instance ?? view.joined ?? instance;
	if (own === instance) return undefined;
	return leftWith(
		EXIT_CODES.rendezvous,
		`the run was restarted meanwhile (instance ${instance} instead of ${own})`,
	);
}

/** The last round that it had left when its session was lost, if it had not heard that the round was over. */
export function cutOffIn({ view, round, fencedIn }: Left): number | undefined {
	return (view?.round.deprecated ?? 0) < round ? round : fencedIn;
}

/** Ends the agent's part. */
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
