import type { Write } from "../../store/index.js";
import { KEPT_ROUNDS } from "../records/history-record.js";
import type { RunKeys } from "../records/keys.js";
import { encodeRecord } from "../records/record-codec.js";
import type { RunView } from "../records/run-view.js";
import type { Plan, RoundPlan } from "./plan.js";

/** The writes of a plan. `last` is one transaction, which makes the plan hold. */
export function planWrites(
	plan: Plan,
	keys: RunKeys,
	view: RunView,
): { readonly others: readonly Write[]; readonly last: readonly Write[] } {
	switch (plan.kind) {
		case "update":
			return { others: [], last: roundWrites(plan, keys, view) };
		case "lift":
			return {
				others: seatWrites(plan, keys),
				last: [...roundWrites(plan, keys, view), ...resetWrites(plan, keys)],
			};
		case "refuse":
			return {
				others: [...replacedWrites(plan, keys), ...seatWrites(plan, keys)],
				last: [],
			};
		case "sweep": {
			const others = plan.nodeIds.map((nodeId) => ({
				delete: keys.seat(nodeId),
			}));
			return { others, last: [] };
		}
		default:
			return plan satisfies never;
	}
}

function seatWrites(
	{ seats }: Extract<Plan, { kind: "lift" | "refuse" }>,
	keys: RunKeys,
): readonly Write[] {
	return [...seats].map(([nodeId, seat]) => ({
		put: keys.seat(nodeId),
		value: encodeRecord(seat),
	}));
}

function replacedWrites(
	{ replaced }: Extract<Plan, { kind: "lift" | "refuse" }>,
	keys: RunKeys,
): readonly Write[] {
	return [...replaced].map(([nodeId, record]) => ({
		put: keys.replacedNode(nodeId),
		value: encodeRecord(record),
	}));
}

/** The count of a replaced node starts again once its replacement is there. */
function resetWrites(
	plan: Extract<Plan, { kind: "lift" }>,
	keys: RunKeys,
): readonly Write[] {
	const { replaced, budgets } = plan;
	const reset = [...replaced.keys()].filter((nodeId) => !budgets.has(nodeId));
	return [
		...replacedWrites(plan, keys),
		...reset.map((nodeId) => ({ delete: keys.budget(nodeId) })),
	];
}

/** The round, its charges and its line of the history in one revision. It also deletes the record of what was awaited. */
function roundWrites(
	{ round, budgets, story }: RoundPlan,
	keys: RunKeys,
	{ waiting }: RunView,
): readonly Write[] {
	const writes: Write[] = [...budgets].map(([nodeId, budget]) => ({
		put: keys.budget(nodeId),
		value: encodeRecord(budget),
	}));
	writes.push({ put: keys.round, value: encodeRecord(round) });
	const isOver = story !== undefined || round.outcome !== null;
	if (waiting !== undefined && isOver) writes.push({ delete: keys.waiting });
	if (story === undefined) return writes;
	const value = encodeRecord(story);
	writes.push({ put: keys.historyOf(story.round), value });
	const surplus = story.round - KEPT_ROUNDS;
	if (surplus > 0) writes.push({ delete: keys.historyOf(surplus) });
	return writes;
}
