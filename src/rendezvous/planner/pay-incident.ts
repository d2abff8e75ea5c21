import { describeFailure } from "../records/failure.js";
import {
	type BudgetRecord,
	type NodeFailure,
	type Outcome,
	RECORD_VERSION,
	type RoundRecord,
} from "../records/records.js";
import type { RunView } from "../records/run-view.js";
import type { PlannerConfig } from "./plan.js";

/** The changes by an incident, and its cost. */
export interface Charged {
	readonly round: RoundRecord;
	readonly budgets: ReadonlyMap<string, BudgetRecord>;
}

/** Charges a failure to one budget. */
export function pay(
	view: RunView,
	round: RoundRecord,
	root: NodeFailure,
): Charged {
	const { nodeId } = root.failure;
	const charged = round.charged + (root.charge === "run" ? 1 : 0);
	return {
		round: { ...round, charged },
		budgets:
			root.charge === "node" || root.charge === "worker"
				? new Map([[nodeId, spend(view.budgets.get(nodeId), root)]])
				: new Map(),
	};
}

/** What a node has used up after one more failure that is charged to it. */
function spend(
	before: BudgetRecord = { version: RECORD_VERSION, charged: 0 },
	{ charge, failure }: NodeFailure,
): BudgetRecord {
	if (charge === "node") return { ...before, charged: before.charged + 1 };
	const spent = before.workers?.[failure.localRank] ?? 0;
	const workers = { ...before.workers, [failure.localRank]: spent + 1 };
	return { ...before, workers };
}

/** Why a node may not take part any more, in words; undefined if it may. */
export function whyBarred(
	nodeId: string,
	{ charged, workers = {}, barred }: BudgetRecord,
	{ maxRestarts }: PlannerConfig,
): string | undefined {
	if (barred !== undefined) return barred;
	const words = `has used up its budget of ${maxRestarts} restarts`;
	if (charged > maxRestarts) return `${nodeId} ${words}`;
	const worker = Object.entries(workers).find(
		([, spent]) => spent > maxRestarts,
	);
	return worker && `local rank ${worker[0]} of ${nodeId} ${words}`;
}

/** How the run ends because of these failures or a spent budget; null if it continues. */
export function outcomeOf(
	round: RoundRecord,
	fresh: readonly NodeFailure[],
	config: PlannerConfig,
): Outcome | null {
	const fatal = fresh.find(({ failsRun }) => failsRun !== null);
	if (fatal !== undefined) {
		return {
			result: "failed",
			exitCode: fatal.failsRun ?? 1,
			reason: `${describeFailure(fatal.failure)}, which ends the run`,
			root: round.cause.root ?? fatal.failure,
		};
	}
	return round.charged > config.maxRestarts ? spent(round, config) : null;
}

/** How the run ends because a budget is spent. */
export function spent(
	{ cause: { reason, root } }: RoundRecord,
	{ maxRestarts }: PlannerConfig,
): Outcome {
	return {
		result: "failed",
		exitCode: 1,
		reason: `${reason}; the budget of ${maxRestarts} restarts is spent`,
		root,
	};
}

/** The number of incidents without one whose charge is still open, so that it never falls. */
export function countIncidents({ incidents, unpaid }: RoundRecord): number {
	return incidents - (unpaid === undefined ? 0 : 1);
}
