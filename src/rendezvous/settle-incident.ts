import { explain } from "./charge-incident.js";
import { describeFailure } from "./failure.js";
import { holderOf } from "./order-members.js";
import { type Charged, outcomeOf, pay, spentBudget } from "./pay-incident.js";
import type { PlannerConfig, PlannerMemory } from "./plan.js";
import type { NodeFailure, RoundRecord } from "./records.js";
import type { NodeView, RunView } from "./run-view.js";
import {
	neededPeers,
	neededPlaces,
	whatElseBefell,
	whyFenced,
	whyGone,
} from "./why-gone.js";

/** An incident of which it is known now who pays for it. */
export interface Settled extends Charged {
	/** Whether the next round can begin with it; else a budget is spent. */
	readonly goesOn: boolean;
	readonly reason: string;
}

/**
 * Whether it is known of a failure for which the round was left that nothing else was
 * behind it: all others have left the round too, and are still there. Who can say that
 * had not gone before. A wish is explained by whoever is missing in the end.
 */
export function isOwnFailure(view: RunView): boolean {
	const { unpaid, synced } = view.round;
	if (unpaid === undefined || unpaid.isWish) return false;
	const { nodeId } = unpaid.failure;
	const haveLeft = neededPeers(view, nodeId).every((place) => {
		const claim = holderOf(view, place)?.record.claim ?? 0;
		return claim > synced;
	});
	return haveLeft && whatElseBefell(view, nodeId).length === 0;
}

/**
 * Who pays for the incident for which the round was left: a worker has failed, or
 * waited for another round, as one does that has lost a peer. Where a member turns
 * out to have gone, that was why, it is the cause of the next round, and costs
 * nothing. Where all are still there it is paid for. Undefined: the round was not
 * left for such a one, or that is settled.
 *
 * @param chosen who would be in the next round
 * @param memory whether it is known that nothing else was behind a failure
 */
export function settleIncident(
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
			: whatElseBefell(view, unpaid.failure.nodeId);
	return why.length > 0
		? { ...explain(view.round, unpaid, why), budgets: new Map(), goesOn: true }
		: charge(view, unpaid, config);
}

/**
 * The same before all are ready, where a failure spends a budget and nothing else was
 * behind it: who waits for the others' workers would only hold up what follows from it.
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
 * Nothing has failed where a worker of this node waits: whoever is not there any
 * more, or not in time, or was cut off meanwhile, explains it.
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
