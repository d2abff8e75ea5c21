import {
	type Checker,
	isSpent,
	lifts,
	predecessor,
	spentBy,
} from "../history.js";

/** What a node has used up outlives its processes until it is replaced; who has used up all gets no seat, and is told so. */
export const nodeBudgets: Checker = {
	name: "node-budgets",
	*check(history) {
		const { commits, spec, processes } = history;
		for (const [index, { at, budgets, reset }] of commits.entries()) {
			const last = predecessor(history, index);
			for (const [nodeId, before] of last?.budgets ?? []) {
				const now = budgets.get(nodeId);
				// Its replacement has come.
				if (reset.has(nodeId) && !last?.reset.has(nodeId)) continue;
				if (now !== undefined && spentBy(now) >= spentBy(before)) continue;
				yield { at, what: `the budget of ${nodeId} came back` };
			}
		}
		for (const lift of lifts(history)) {
			const { at, seats, round } = lift;
			for (const nodeId of seats.keys()) {
				if (!isSpent(lift, nodeId, spec)) continue;
				yield { at, what: `${nodeId} is spent, and sits in ${round.synced}` };
			}
		}
		for (const { ending, endedAt, nodeId, incarnation } of processes) {
			if (!ending?.reason.includes("used up its budget")) continue;
			const at = endedAt ?? history.endedAt;
			const isTrue = commits.some(
				(commit) => commit.at <= at && isSpent(commit, nodeId, spec),
			);
			if (!isTrue) yield { at, what: `${incarnation} was refused too early` };
		}
	},
};
