import { awaits } from "../records/awaited.js";
import { idsOf } from "../records/places.js";
import type { NodeView, RunView } from "../records/run-view.js";
import type { NonEmpty } from "./order-members.js";
import {
	type PlannerConfig,
	type PlannerMemory,
	type PlanResult,
	type SettleDeadline,
	wait,
} from "./plan.js";
import type { Settled } from "./resolve-charge.js";

/** While nothing makes progress, a restart waits; the time since the round was left counts. */
export function planDelay(
	view: RunView,
	chosen: NonEmpty<NodeView>,
	settled: Settled | undefined,
	kept: PlannerMemory & { readonly settle: SettleDeadline },
	config: PlannerConfig,
	now: number,
): PlanResult | undefined {
	const { at, longerByMs } = kept.settle;
	const leftAt = at - longerByMs - config.settleTimeoutMs;
	const until = leftAt + (settled?.delayMs ?? 0);
	if (now >= until) return undefined;
	const times = settled?.round.fruitless ?? 0;
	return wait(
		`waits before the restart: ${times} rounds in a row have ended before anything moved`,
		kept,
		until,
		awaits("delay", view, config, { here: idsOf(chosen) }),
	);
}
