import { type Spent, spentBy } from "./categories.js";
import type { Goodput } from "./describe-goodput.js";

/** What a run's time cost, in the currency of the price. */
export interface Cost {
	readonly perNodeHour: number;
	readonly total: number;
	/** All that was not productive. */
	readonly lost: number;
	readonly byCategory: Spent;
}

const SECONDS_AN_HOUR = 3_600;

export function costOf(
	{ ledger, nodeSeconds }: Pick<Goodput, "ledger" | "nodeSeconds">,
	perNodeHour: number,
): Cost {
	const costOfTime = (seconds: number) =>
		(seconds / SECONDS_AN_HOUR) * perNodeHour;
	const total = costOfTime(nodeSeconds);
	return {
		...{ perNodeHour, total },
		lost: total - costOfTime(ledger.productive),
		byCategory: spentBy((category) => costOfTime(ledger[category])),
	};
}
