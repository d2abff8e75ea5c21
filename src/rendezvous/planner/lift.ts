import type { FailureId } from "../records/failure.js";
import { idsOf } from "../records/places.js";
import type { BudgetRecord } from "../records/records.js";
import type { NodeView, RunView } from "../records/run-view.js";
import { assignSeats, type NonEmpty } from "./order-members.js";
import type { PlannerMemory, PlanResult } from "./plan.js";
import { progressOf } from "./progress.js";
import { replacedBy } from "./replace-nodes.js";

/**
 * Begins the next round with these members, in this order.
 * @param memory stays as it is: only the write shows whether the round begins
 * @param budgets changed budgets of nodes
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
	const { furthest, isFurther, hasSteps } = progressOf(view);
	const { seats, world } = assignSeats(view, chosen, planId, synced);
	return {
		plan: {
			kind: "lift",
			seats,
			budgets,
			replaced: replacedBy(view, chosen),
			round: {
				...round,
				furthest,
				...(hasSteps && { fruitless: undefined }),
				...(isFurther && { repeated: undefined }),
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

/** Failures of the old round that were accounted for and may be seen once more in the new one. */
function stillStated({ round, nodes }: RunView): readonly FailureId[] {
	const { synced, accounted } = round;
	return [...nodes.values()].flatMap(({ record: { failure } }) =>
		failure?.failure.round === synced && accounted.includes(failure.failure.id)
			? [failure.failure.id]
			: [],
	);
}
