import { describeFailure } from "../records/failure.js";
import type { NodeFailure, RoundRecord } from "../records/records.js";
import type { RunView } from "../records/run-view.js";
import {
	barred,
	barredNode,
	hopeless,
	isRowFull,
	rowAfter,
} from "./identical-failures.js";
import { type Charged, outcomeOf, pay, whyBarred } from "./pay-incident.js";
import type { PlannerConfig } from "./plan.js";
import { progressOf } from "./progress.js";
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
				roles: round.cause.roles,
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
	const progress = progressOf(view);
	const settled: RoundRecord = {
		...view.round,
		unpaid: undefined,
		repeated: rowAfter(view, unpaid, progress, config),
		furthest: progress.furthest,
	};
	const paid = pay(view, settled, unpaid);
	const { round } = paid;
	const ends = outcomeOf(round, [unpaid], config);
	const isFull = ends === null && isRowFull(round, config);
	const bar = isFull ? barredNode(view, unpaid, round, config) : undefined;
	const isHopeless = isFull && bar === undefined;
	const outcome = isHopeless ? hopeless(round, unpaid) : ends;
	const budgets = new Map(
		[...paid.budgets].map(([nodeId, budget]) => [nodeId, barred(budget, bar)]),
	);
	const isSpent = [...budgets].some(
		([nodeId, budget]) => whyBarred(nodeId, budget, config) !== undefined,
	);
	return {
		round: { ...round, outcome },
		budgets,
		goesOn: outcome === null && !isSpent,
		reason: `${describeFailure(unpaid.failure)}; no node has gone`,
	};
}
