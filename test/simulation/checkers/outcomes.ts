import type { Checker } from "../history.js";

/** Every outcome has its cause, and every agent that ends with the run ends with the same. */
export const outcomes: Checker = {
	name: "outcomes",
	*check({ commits, processes, spec }) {
		for (const { at, round } of commits) {
			const { outcome } = round;
			if (outcome === null) continue;
			if (outcome.reason === "")
				yield { at, what: "an outcome says no reason" };
			if ((outcome.exitCode === 0) !== (outcome.result === "succeeded")) {
				yield { at, what: `${outcome.result} with ${outcome.exitCode}` };
			}
			if (outcome.exitCode === 1 && outcome.root === null) {
				yield { at, what: "a failed run names no root cause" };
			}
			const isSpent = outcome.exitCode === 1;
			if (isSpent && round.charged <= spec.maxRestarts) {
				yield { at, what: "the run failed with restarts left" };
			}
		}
		const told = new Set(
			commits.flatMap(({ round }) =>
				round.outcome ? [round.outcome.reason] : [],
			),
		);
		for (const { ending, endedAt, incarnation } of processes) {
			if (ending === null) continue;
			const at = endedAt ?? 0;
			if (ending.exitCode === 70) {
				yield { at, what: `${incarnation} has a bug: ${ending.reason}` };
			}
			if (ending.outcome !== "left" && !told.has(ending.reason)) {
				yield { at, what: `${incarnation} ended with an outcome of its own` };
			}
		}
	},
};
