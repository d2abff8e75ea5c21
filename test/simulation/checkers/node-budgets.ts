import { type Checker, lifts, predecessor } from "../history.js";

/** What a node has used up outlives its processes; who has used up all gets no seat, and is told so. */
export const nodeBudgets: Checker = {
	name: "node-budgets",
	*check(history) {
		const { commits, spec, processes } = history;
		for (const [index, { at, budgets }] of commits.entries()) {
			for (const [nodeId, before] of predecessor(history, index)?.budgets ??
				[]) {
				if ((budgets.get(nodeId) ?? 0) >= before) continue;
				yield { at, what: `the budget of ${nodeId} came back` };
			}
		}
		for (const { at, seats, budgets, round } of lifts(history)) {
			for (const nodeId of seats.keys()) {
				const charged = budgets.get(nodeId) ?? 0;
				if (charged <= spec.maxRestarts) continue;
				yield { at, what: `${nodeId} is spent, and sits in ${round.synced}` };
			}
		}
		for (const { ending, endedAt, nodeId, incarnation } of processes) {
			if (!ending?.reason.includes("used up its budget")) continue;
			const at = endedAt ?? 0;
			const isSpent = commits.some(
				(commit) =>
					commit.at <= at &&
					(commit.budgets.get(nodeId) ?? 0) > spec.maxRestarts,
			);
			if (!isSpent) yield { at, what: `${incarnation} was refused too early` };
		}
	},
};
