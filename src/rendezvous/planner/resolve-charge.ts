import { describeFailure } from "../records/failure.js";
import type { NodeFailure, RoundRecord } from "../records/records.js";
import type { RunView } from "../records/run-view.js";
import { type Charged, outcomeOf, pay, spentBudget } from "./pay-incident.js";
import type { PlannerConfig } from "./plan.js";
import { externalCauses } from "./why-gone.js";

/** An incident whose charge is decided. */
export interface Settled extends Charged {
	/** Whether the next round can begin with it; otherwise a budget is spent. */
	readonly goesOn: boolean;
	readonly reason: string;
}

/**
 * Decides who pays for the incident for which the round was left, when the next round can begin: a worker has failed, or
 * waited for another round, as it does after losing a peer. If a member has gone or was cut off, that is the cause of the
 * next round, and nothing is charged. Undefined: the round was not left for an incident, or its charge is decided.
 */
export function resolveCharge(
	view: RunView,
	config: PlannerConfig,
): Settled | undefined {
	const { unpaid } = view.round;
	if (unpaid === undefined) return undefined;
	const why = externalCauses(view, unpaid);
	return why.length > 0
		? explain(view.round, unpaid, why)
		: charge(view, unpaid, config);
}

/** An event on other nodes is the cause of what had begun as an incident. */
function explain(
	round: RoundRecord,
	{ failure, isWish = false }: NodeFailure,
	why: readonly string[],
): Settled {
	const reason = why.join("; ");
	return {
		round: {
			...round,
			cause: {
				kind: "scale-down",
				changeEvent: "SCALE_DOWN",
				reason,
				root: null,
				ended: round.synced,
			},
			incidents: round.incidents - 1,
			unpaid: undefined,
		},
		budgets: new Map(),
		goesOn: true,
		reason: isWish
			? `${reason}, nothing failed`
			: `${reason}, which explains ${describeFailure(failure)}`,
	};
}

function charge(
	view: RunView,
	unpaid: NodeFailure,
	config: PlannerConfig,
): Settled {
	const settled: RoundRecord = { ...view.round, unpaid: undefined };
	const { round, budgets } = pay(view, settled, unpaid);
	const outcome = outcomeOf(round, [unpaid], config);
	const isSpent = [...budgets].some(
		([nodeId, budget]) => spentBudget(nodeId, budget, config) !== undefined,
	);
	return {
		round: { ...round, outcome },
		budgets,
		goesOn: outcome === null && !isSpent,
		reason: `${describeFailure(unpaid.failure)}; no node has gone`,
	};
}
