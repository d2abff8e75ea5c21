import {
	describeFailure,
	type Incident,
	outcomeOf,
	pay,
} from "./charge-incident.js";
import { currentPlaces } from "./order-members.js";
import type { PlannerConfig } from "./plan.js";
import type { NodeFailure, RoundRecord } from "./records.js";
import type { NodeView, RunView } from "./run-view.js";
import { whyGone } from "./why-gone.js";

/**
 * What became of the wish for which the round was left: a worker waited for
 * another one, as one does that has lost a peer. Where a member turns out to have
 * gone, that was why, it is the cause of the next round, and costs nothing.
 * Where all are still there it is an incident, and is paid for. Undefined: the
 * round was not left for a wish, or that is settled.
 *
 * @param chosen who would be in the next round
 */
export function settleWish(
	view: RunView,
	chosen: readonly NodeView[],
	config: PlannerConfig,
): Incident | undefined {
	const { unpaid } = view.round;
	if (unpaid === undefined) return undefined;
	const settled: RoundRecord = { ...view.round, unpaid: undefined };
	const gone = departed(view, chosen, config);
	return gone.length > 0
		? explain(settled, gone.join("; "))
		: charge(view, settled, unpaid, config);
}

function explain(settled: RoundRecord, reason: string): Incident {
	const round: RoundRecord = {
		...settled,
		cause: {
			kind: "scale-down",
			changeEvent: "SCALE_DOWN",
			reason,
			root: null,
		},
		incidents: settled.incidents - 1,
	};
	return { round, budgets: new Map(), reason: `${reason}, nothing failed` };
}

function charge(
	view: RunView,
	settled: RoundRecord,
	unpaid: NodeFailure,
	config: PlannerConfig,
): Incident {
	const { round, budgets } = pay(view, settled, unpaid);
	return {
		round: { ...round, outcome: outcomeOf(round, [unpaid], config) },
		budgets,
		reason: `${describeFailure(unpaid.failure)}; no node has gone`,
	};
}

/** Why members that had not finished will not be in the next round, one line each. */
function departed(
	view: RunView,
	chosen: readonly NodeView[],
	{ finishedStay = false }: PlannerConfig,
): readonly string[] {
	const stays = chosen.map(({ record }) => record.incarnation);
	return currentPlaces(view)
		.filter(
			({ nodeId, incarnation }) =>
				!(finishedStay && view.finished.has(nodeId)) &&
				!stays.includes(incarnation),
		)
		.map(
			(place) => whyGone(view, place) ?? `${place.nodeId} did not come in time`,
		);
}
