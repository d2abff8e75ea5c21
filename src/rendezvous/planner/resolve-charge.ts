import { UNUSED } from "../records/budgets.js";
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
import { whyBarred } from "./node-budget.js";
import { type Charged, outcomeOf, pay } from "./pay-incident.js";
import type { PlannerConfig } from "./plan.js";
import { progressOf } from "./progress.js";
import { fruitlessAfter, restartDelayMs } from "./restart-delay.js";
import { reasonIn } from "./role-scope.js";
import { externalCauses } from "./why-gone.js";

/** An incident whose charge is decided. */
export interface Settled extends Charged {
	/** Whether the next round can begin with it; otherwise a budget is spent. */
	readonly goesOn: boolean;
	/** How long to wait from the end of the round, in milliseconds. */
	readonly delayMs: number;
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
	wallTime: number,
): Settled | undefined {
	const { unpaid } = view.round;
	if (unpaid === undefined) return undefined;
	const why = externalCauses(view, unpaid);
	return why.length > 0
		? explain(view.round, unpaid, why, config)
		: charge(view, unpaid, config, wallTime);
}

/** An event on other nodes is the cause of what had begun as an incident. */
function explain(
	round: RoundRecord,
	{ failure, isWish = false }: NodeFailure,
	why: readonly string[],
	config: PlannerConfig,
): Settled {
	const { roles } = round.cause;
	const words = why.join("; ");
	const reason =
		roles === undefined ? words : reasonIn(config, roles.join(", "), words);
	return {
		round: {
			...round,
			cause: {
				kind: "scale-down",
				changeEvent: "SCALE_DOWN",
				reason,
				root: null,
				ended: round.synced,
				roles,
			},
			incidents: round.incidents - 1,
			unpaid: undefined,
		},
		budgets: new Map(),
		goesOn: true,
		delayMs: 0,
		reason: isWish
			? `${reason}, nothing failed`
			: `${reason}, which explains ${describeFailure(failure)}`,
	};
}

function charge(
	view: RunView,
	unpaid: NodeFailure,
	config: PlannerConfig,
	wallTime: number,
): Settled {
	const progress = progressOf(view);
	const settled: RoundRecord = {
		...view.round,
		unpaid: undefined,
		repeated: rowAfter(view, unpaid, progress, config),
		furthest: progress.furthest,
		fruitless: fruitlessAfter(view.round, unpaid, progress, config),
	};
	const cost = costOf(view, settled, unpaid, config, wallTime);
	const isBarred = [...cost.budgets].some(
		([nodeId, budget]) =>
			whyBarred(nodeId, budget, config, wallTime) !== undefined,
	);
	const { fruitless = 0, outcome } = cost.round;
	return {
		...cost,
		goesOn: outcome === null && !isBarred,
		delayMs: unpaid.isWish
			? 0
			: restartDelayMs(fruitless, unpaid.failure.id, config),
		reason: `${describeFailure(unpaid.failure)}; no node has gone`,
	};
}

/** What the incident costs, or how it ends the run or its node's part in it. */
function costOf(
	view: RunView,
	round: RoundRecord,
	unpaid: NodeFailure,
	config: PlannerConfig,
	wallTime: number,
): Charged {
	const { nodeId } = unpaid.failure;
	const paid = pay(view, round, unpaid, config, wallTime);
	const ends = outcomeOf(paid.round, [unpaid], config, wallTime);
	const isFull = ends === null && isRowFull(round, config);
	if (!isFull) return { ...paid, round: { ...paid.round, outcome: ends } };
	const bar = barredNode(view, unpaid, round, config);
	if (bar === undefined) {
		const outcome = hopeless(paid.round, unpaid);
		return { ...paid, round: { ...paid.round, outcome } };
	}
	const before = paid.budgets.get(nodeId) ?? UNUSED;
	return { ...paid, budgets: new Map([[nodeId, barred(before, bar)]]) };
}
