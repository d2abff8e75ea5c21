import { EXIT_CODES } from "../../../src/base/errors.js";
import type { Checker, History, ProcessHistory } from "../history.js";

/** The exit code of an agent that SIGTERM made leave. */
const STOPPED = 143;

/**
 * Every outcome has its cause, and all agents end with the same code and reason,
 * but those that left for a reason of their own.
 */
export const outcomes: Checker = {
	name: "outcomes",
	*check(history) {
		yield* causes(history);
		for (const process of history.processes) {
			const what = whyNotRight(process, history);
			if (what === undefined) continue;
			yield {
				at: process.endedAt ?? history.endedAt,
				what: `${process.incarnation}: ${what}`,
			};
		}
	},
};

function* causes({ commits, spec }: History) {
	for (const { at, round } of commits) {
		const { outcome } = round;
		if (outcome === null) continue;
		if (outcome.reason === "") yield { at, what: "an outcome says no reason" };
		if ((outcome.exitCode === 0) !== (outcome.result === "succeeded")) {
			yield { at, what: `${outcome.result} with ${outcome.exitCode}` };
		}
		if (outcome.exitCode !== EXIT_CODES.failed) continue;
		if (outcome.root === null) {
			yield { at, what: "a failed run names no root cause" };
		}
		const isFatal = outcome.reason.includes("which ends the run");
		const { maxIdenticalFailures: most = 0 } = spec;
		const { repeated = [] } = outcome;
		const isHopeless = most > 0 && repeated.length >= most;
		if (!isFatal && !isHopeless && round.charged <= spec.maxRestarts) {
			yield { at, what: "the run failed with restarts left" };
		}
	}
}

function whyNotRight(
	process: ProcessHistory,
	history: History,
): string | undefined {
	const { ending } = process;
	if (ending === null) return undefined;
	const { exitCode, reason, outcome } = ending;
	if (outcome === "left") {
		return mayLeave(process, history)
			? undefined
			: `left with ${exitCode}: ${reason}`;
	}
	const isTold = history.commits.some(
		({ round }) =>
			round.outcome?.reason === reason && round.outcome.exitCode === exitCode,
	);
	const isLost = history.wipes.length > 0 && exitCode === EXIT_CODES.rendezvous;
	return isTold || isLost
		? undefined
		: `ended with an outcome of its own: ${exitCode}, ${reason}`;
}

/** Whether what happened to a process explains that it left. */
function mayLeave(process: ProcessHistory, history: History): boolean {
	const { nodeId, incarnation, disturbed, frozen } = process;
	const { stopsAsked, noticed } = process;
	const { exitCode = 0, reason = "" } = process.ending ?? {};
	switch (exitCode) {
		case STOPPED:
			return stopsAsked.length + noticed.length > 0;
		case EXIT_CODES.replaceNode:
			return (
				reason.includes("used up its budget") ||
				reason.includes("in a row in the same way") ||
				history.policy === "by-exit-code" ||
				history.workers.some(
					(worker) => worker.process === process && worker.stuckAt !== null,
				)
			);
		case EXIT_CODES.rendezvous: {
			const others = history.processes.filter(
				(other) => other.nodeId === nodeId && other.incarnation !== incarnation,
			);
			const starts = new Set(
				history.commits.map(({ round }) => round.instance),
			);
			return reason.includes("is taken by")
				? others.length > 0
				: starts.size > 1 || history.wipes.length > 0;
		}
		case EXIT_CODES.storeUnreachable:
			return disturbed.length + frozen.length > 0;
		default:
			return false;
	}
}
