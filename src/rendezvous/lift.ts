import type { FailureId } from "./failure.js";
import { assignSeats, idsOf, type NonEmpty } from "./order-members.js";
import type { PlannerMemory, PlanResult } from "./plan.js";
import type { BudgetRecord } from "./records.js";
import type { NodeView, RunView } from "./run-view.js";

/**
 * Begins the next round with these members, in this order.
 * @param memory is kept: whether the round begins is known once it is written
 * @param budgets what nodes have used up, where that changes with it
 */
export function lift(
	view: RunView,
	chosen: NonEmpty<NodeView>,
	planId: string,
	memory: PlannerMemory,
	budgets: ReadonlyMap<string, BudgetRecord> = new Map(),
): PlanResult {
	const { round } = view;
	const synced = round.synced + 1;
	const { seats, world } = assignSeats(view, chosen, planId, synced);
	return {
		plan: {
			kind: "lift",
			seats,
			budgets,
			round: {
				...round,
				synced,
				planId,
				seats: seats.size,
				accounted: stillStated(view),
				world,
			},
		},
		memory,
		until: undefined,
		reason: `round ${synced}: ${idsOf(chosen).join(", ")}`,
	};
}

/** What has been accounted for of the round that was left, and may be seen once more in the one that begins. */
function stillStated({ round, nodes }: RunView): readonly FailureId[] {
	const { synced, accounted } = round;
	return [...nodes.values()].flatMap(({ record: { failure } }) =>
		failure?.failure.round === synced && accounted.includes(failure.failure.id)
			? [failure.failure.id]
			: [],
	);
}
