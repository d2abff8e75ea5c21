import type { FailureRecord } from "./failure.js";
import type { PlannerConfig } from "./plan.js";
import {
	type BudgetRecord,
	type NodeFailure,
	type Outcome,
	RECORD_VERSION,
	type RoundRecord,
} from "./records.js";
import type { NodeView, RunView } from "./run-view.js";

/** "rank 2 on node-a: killed by SIGKILL". */
export function describeFailure(failure: FailureRecord): string {
	return `rank ${failure.rank} on ${failure.nodeId}: ${failure.description}`;
}

/** How the run changes by failures that nobody has accounted for yet; undefined where there are none. */
export interface Incident {
	readonly round: RoundRecord;
	readonly budgets: ReadonlyMap<string, BudgetRecord>;
	readonly reason: string;
}

/**
 * Accounts for failures. Those that are seen before the next round is synced
 * are one incident and cost one unit of one budget; its root is the one that
 * the store saw first, whatever the clocks of the nodes say.
 */
export function chargeIncident(
	view: RunView,
	config: PlannerConfig,
): Incident | undefined {
	const fresh = unaccountedFailures(view);
	const [first] = fresh;
	if (first === undefined) return undefined;

	const { round } = view;
	const joinsOpenIncident =
		round.deprecated >= round.synced && round.cause.root !== null;
	const charged = joinsOpenIncident
		? { round, budgets: new Map<string, BudgetRecord>() }
		: charge(view, first);
	const reason = joinsOpenIncident
		? `${describeFailure(first.failure)}, part of the same incident`
		: describeFailure(first.failure);
	return {
		round: {
			...charged.round,
			deprecated: round.synced,
			accounted: [...accountedStillNamed(view), ...fresh.map(failureId)],
			outcome: outcomeOf(charged.round, fresh, config),
		},
		budgets: charged.budgets,
		reason,
	};
}

/** Failures that a live record still names and that were accounted for. */
export function accountedStillNamed(view: RunView): readonly string[] {
	const named = new Set(failuresOf(view).map(failureId));
	return view.round.accounted.filter((id) => named.has(id));
}

function failureId(reported: NodeFailure): string {
	return reported.failure.id;
}

function failuresOf(view: RunView): readonly NodeFailure[] {
	return [...view.nodes.values()]
		.sort((left, right) => left.modRevision - right.modRevision)
		.flatMap(({ record }: NodeView) => record.failure ?? []);
}

function unaccountedFailures(view: RunView): readonly NodeFailure[] {
	return failuresOf(view).filter(
		({ failure }) => !view.round.accounted.includes(failure.id),
	);
}

function charge(
	view: RunView,
	root: NodeFailure,
): { round: RoundRecord; budgets: ReadonlyMap<string, BudgetRecord> } {
	const { round } = view;
	const { nodeId } = root.failure;
	const paysNode = root.charge === "node" || root.charge === "worker";
	return {
		round: {
			...round,
			cause: {
				kind: "failure",
				changeEvent: "SCALE_DOWN",
				reason: describeFailure(root.failure),
				root: root.failure,
			},
			incidents: round.incidents + 1,
			charged: round.charged + (root.charge === "run" ? 1 : 0),
		},
		budgets: paysNode
			? new Map([
					[
						nodeId,
						{
							version: RECORD_VERSION,
							charged: (view.budgets.get(nodeId)?.charged ?? 0) + 1,
						},
					],
				])
			: new Map(),
	};
}

function outcomeOf(
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
			root: round.cause.root,
		};
	}
	if (round.charged <= config.maxRestarts) return null;
	return {
		result: "failed",
		exitCode: 1,
		reason: `${round.cause.reason}; the budget of ${config.maxRestarts} restarts is spent`,
		root: round.cause.root,
	};
}
