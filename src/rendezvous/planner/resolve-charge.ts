import { describeFailure } from "../records/failure.js";
import type { NodeFailure, RoundRecord } from "../records/records.js";
import type { NodeView, RunView } from "../records/run-view.js";
import { explain } from "./charge-incident.js";
import { holderOf } from "./order-members.js";
import { type Charged, outcomeOf, pay, spentBudget } from "./pay-incident.js";
import type { PlannerConfig, PlannerMemory } from "./plan.js";
import {
	externalCauses,
	neededPeers,
	neededPlaces,
	whyFenced,
	whyGone,
} from "./why-gone.js";

/** An incident whose charge is decided. */
export interface Settled extends Charged {
	/** Whether the next round can begin with it; otherwise a budget is spent. */
	readonly goesOn: boolean;
	readonly reason: string;
}

/**
 * Whether a failure for which the round was left certainly had no other cause: all other nodes have left the round too,
 * and are still there. So none of them had gone before. A wish is explained by a node that is missing in the end.
 */
export function isOwnFailure(view: RunView): boolean {
	const { unpaid, synced } = view.round;
	if (unpaid === undefined || unpaid.isWish) return false;
	const { nodeId } = unpaid.failure;
	const haveLeft = neededPeers(view, nodeId).every((place) => {
		const claim = holderOf(view, place)?.record.claim ?? 0;
		return claim > synced;
	});
	return haveLeft && externalCauses(view, nodeId).length === 0;
}

/**
 * Decides who pays for the incident for which the round was left: a worker has failed, or waited for another round, as it
 * does after losing a peer. If a member turns out to have gone, that is the reason and the cause of the next round, and
 * nothing is charged. If all are still there, the incident is charged. Undefined: the round was not left for an incident,
 * or its charge is decided.
 *
 * @param chosen the members of the next round
 * @param memory whether the failure is known to have no other cause
 */
export function resolveCharge(
	view: RunView,
	chosen: readonly NodeView[],
	memory: PlannerMemory,
	config: PlannerConfig,
): Settled | undefined {
	const { unpaid } = view.round;
	if (unpaid === undefined) return undefined;
	const why = unpaid.isWish
		? whoDeparted(view, unpaid.failure.nodeId, chosen)
		: isKnown(memory, view)
			? []
			: externalCauses(view, unpaid.failure.nodeId);
	return why.length > 0
		? { ...explain(view.round, unpaid, why), budgets: new Map(), goesOn: true }
		: charge(view, unpaid, config);
}

/**
 * The same before all nodes are ready, if a failure without another cause spends a budget: waiting for the others'
 * workers would only delay the end.
 */
export function settleIfSpent(
	view: RunView,
	memory: PlannerMemory,
	config: PlannerConfig,
): Settled | undefined {
	const { unpaid } = view.round;
	if (unpaid === undefined || !isKnown(memory, view)) return undefined;
	const settled = charge(view, unpaid, config);
	return settled.goesOn ? undefined : settled;
}

function isKnown({ ownFailureOf }: PlannerMemory, { round }: RunView): boolean {
	return ownFailureOf === round.synced;
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

/**
 * If a worker of this node waits, nothing has failed on it: a node that is gone, late, or was cut off meanwhile explains
 * the wait.
 */
function whoDeparted(
	view: RunView,
	nodeId: string,
	chosen: readonly NodeView[],
): readonly string[] {
	const stays = chosen.map(({ record }) => record.incarnation);
	return neededPlaces(view).flatMap((place) => {
		if (!stays.includes(place.incarnation)) {
			return whyGone(view, place) ?? `${place.nodeId} did not come in time`;
		}
		return place.nodeId === nodeId ? [] : (whyFenced(view, place) ?? []);
	});
}
