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
 * the store saw first, whatever the clocks of the nodes say. Workers that die
 * later, and had not heard yet that the round of that root is over, belong to it.
 * Where nothing had failed when the round was left, those whose nodes had not
 * heard of that cost nothing either: they may have died of the end of their peers.
 */
export function chargeIncident(
	view: RunView,
	config: PlannerConfig,
): Incident | undefined {
	const fresh = unaccountedFailures(view);
	// What failed explains why others wait, though they may have said so first.
	const failed = fresh.filter(({ isWish = false }) => !isWish);
	const telling = failed.length > 0 ? failed : fresh;
	const [first] = telling;
	if (first === undefined) return undefined;

	const { round } = view;
	const root = telling.find((failure) => !isPartOf(round, failure));
	const charged = root === undefined ? join(round, first) : begin(view, root);
	const reason =
		root === undefined
			? alsoFailed(round, first)
			: describeFailure(root.failure);
	return {
		round: {
			...charged.round,
			deprecated: round.synced,
			accounted: [...round.accounted, ...fresh.map(failureId)],
			outcome: outcomeOf(charged.round, fresh, config),
		},
		budgets: charged.budgets,
		reason,
	};
}

/** What an incident has changed, and what it has cost. */
export interface Charged {
	readonly round: RoundRecord;
	readonly budgets: ReadonlyMap<string, BudgetRecord>;
}

/** Whether it belongs to what has ended its round, or the one before. */
function isPartOf(
	{ synced, deprecated, cause: { root }, unpaid }: RoundRecord,
	{ stillIn, unaware = false, isWish = false, failsRun }: NodeFailure,
): boolean {
	// A failure explains why somebody waited for another round, not the reverse.
	if (unpaid !== undefined && !isWish) return false;
	const isOver = deprecated >= synced;
	// What ends the run is the reason that it does.
	if (root === null) return isOver && unaware && failsRun === null;
	return isOver || stillIn === root.round;
}

/** One more failure of an incident that is paid for; where its round was over, the next one is left for it. */
function join(round: RoundRecord, failed: NodeFailure): Charged {
	const isOpen = round.deprecated >= round.synced;
	const cause = isOpen
		? round.cause
		: { ...round.cause, reason: alsoFailed(round, failed) };
	return { round: { ...round, cause }, budgets: new Map() };
}

function alsoFailed({ cause }: RoundRecord, { failure }: NodeFailure): string {
	return cause.root === null
		? `${describeFailure(failure)}, as its round was left: ${cause.reason}`
		: `${describeFailure(failure)}, part of the same incident`;
}

function failureId(reported: NodeFailure): string {
	return reported.failure.id;
}

function failuresOf(view: RunView): readonly NodeFailure[] {
	return [...view.nodes.values()]
		.sort((left, right) => left.modRevision - right.modRevision)
		.flatMap(({ record }: NodeView) => record.failure ?? []);
}

/**
 * Those of the newest round. One of an earlier round comes from a node that was
 * out of reach when that round was left: the run went on without it, and has
 * paid for it as for a node that vanished.
 */
function unaccountedFailures(view: RunView): readonly NodeFailure[] {
	const { synced, accounted } = view.round;
	return failuresOf(view).filter(
		({ failure }) => failure.round >= synced && !accounted.includes(failure.id),
	);
}

/** Whether a wish is paid for is known when the next round can begin: see settle-wish.ts. */
function begin(view: RunView, root: NodeFailure): Charged {
	const round: RoundRecord = {
		...view.round,
		cause: {
			kind: "failure",
			changeEvent: "SCALE_DOWN",
			reason: describeFailure(root.failure),
			root: root.failure,
		},
		incidents: view.round.incidents + (view.round.unpaid ? 0 : 1),
		unpaid: undefined,
	};
	return root.isWish
		? { round: { ...round, unpaid: root }, budgets: new Map() }
		: pay(view, round, root);
}

/** Charges the one budget that pays for a failure. */
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

/** What a node has used up, after one more failure that it pays for itself. */
function spend(
	before: BudgetRecord = { version: RECORD_VERSION, charged: 0 },
	{ charge, failure }: NodeFailure,
): BudgetRecord {
	if (charge === "node") return { ...before, charged: before.charged + 1 };
	const spent = before.workers?.[failure.localRank] ?? 0;
	const workers = { ...before.workers, [failure.localRank]: spent + 1 };
	return { ...before, workers };
}

/** Whose budget is spent, in words; undefined where none is. */
export function spentBudget(
	nodeId: string,
	{ charged, workers = {} }: BudgetRecord,
	{ maxRestarts }: PlannerConfig,
): string | undefined {
	if (charged > maxRestarts) return nodeId;
	const worker = Object.entries(workers).find(
		([, spent]) => spent > maxRestarts,
	);
	return worker && `local rank ${worker[0]} of ${nodeId}`;
}

/** How the run ends by these failures, or because its budget is spent; null: it goes on. */
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
