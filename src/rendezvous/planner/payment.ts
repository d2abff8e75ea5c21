import {
	limitInWords,
	mainLimit,
	NOTHING,
	nodeLimit,
	preemptionLimit,
	roleLimit,
	spentByNode,
	spentByRun,
	spentByWorker,
	spentOnNode,
	UNUSED,
	usedOf,
	withCharge,
} from "../records/budgets.js";
import { describeFailure } from "../records/failure.js";
import { isRecreated } from "../records/places.js";
import type {
	BudgetRecord,
	NodeFailure,
	Outcome,
	RoundRecord,
	Spending,
} from "../records/records.js";
import type { RunView } from "../records/run-view.js";
import {
	isPreempted,
	lastWordOf,
	neededPlaces,
	whyFenced,
	whyGone,
} from "./departures.js";
import type { PlannerConfig } from "./plan.js";
import {
	delayAfterLoss,
	failedAtStart,
	fruitlessAfter,
	fruitlessAfterLoss,
	hopeless,
	isRowFull,
	progressOf,
	restartDelayMs,
	rowAfter,
	whyReplaced,
} from "./progress.js";
import { reasonIn } from "./role-scope.js";

/*
 * Who pays for an incident: a worker has failed, or waits for another round, as it does after losing a peer. It is decided
 * when the next round can begin. The first row that holds decides.
 *
 *   the incident                                     | pays
 *   -------------------------------------------------|---------------------------------------------
 *   is explained by a member of the last round       | nobody: that is the cause of the next round
 *   costs nothing, as its rule or policy says        | nobody
 *   has no node that is known to be at fault         | the run
 *   is one too many for its node's own limit         | nobody: its node is to be replaced
 *   is charged to the run                            | the run, and its role
 *   is charged to its node or its worker             | that, and its role
 *
 * But what no restart can change ends the run, if all nodes of the first round fail of it before any step.
 * Then, if no budget is spent: if the same failure has come too often in a row, its node is to be replaced, or the run ends.
 *
 *   what explains it: a member              | another node's | the node of the failure | of a worker's wish
 *   ----------------------------------------|----------------|-------------------------|-------------------
 *   vanished, or is another process         | cause          | -                       | cause
 *   leaves because it was asked to          | cause          | cause                   | cause
 *   leaves for another reason               | cause          | -                       | cause
 *   could not rely on its lease             | cause          | -                       | -
 *   is only late, or had finished           | -              | -                       | -
 *   ends to be started again                | -              | -                       | -
 *
 * Where no node is known to be at fault, all count as other nodes.
 */

/** The changes by an incident, and its cost. */
export interface Charged {
	readonly round: RoundRecord;
	readonly budgets: ReadonlyMap<string, BudgetRecord>;
}

/** An incident whose charge is decided. */
export interface Settled extends Charged {
	/** Whether the next round can begin with it; otherwise a budget is spent. */
	readonly goesOn: boolean;
	/** How long to wait from the end of the round, in milliseconds. */
	readonly delayMs: number;
	readonly reason: string;
}

/** The charge of the incident for which the round was left; undefined if it was left for none, or that is decided. */
export function resolveCharge(
	view: RunView,
	config: PlannerConfig,
	runTime: number,
): Settled | undefined {
	const { unpaid } = view.round;
	if (unpaid === undefined) return undefined;
	const why = externalCauses(view, unpaid);
	return why.length > 0
		? explain(view, unpaid, why, config, runTime)
		: charge(view, unpaid, config, runTime);
}

/** What other nodes' events explain the incident, one line each. */
function externalCauses(
	view: RunView,
	{ failure, isWish = false }: NodeFailure,
): readonly string[] {
	return neededPlaces(view).flatMap((place) => {
		if (isRecreated(view, place)) return [];
		if (failure.isUnattributed || place.nodeId !== failure.nodeId) {
			return whyGone(view, place) ?? whyFenced(view, place) ?? [];
		}
		const isFree = isWish || lastWordOf(view, place)?.isAsked === true;
		return (isFree ? whyGone(view, place) : undefined) ?? [];
	});
}

/** An event on other nodes is the cause of what had begun as an incident. */
function explain(
	view: RunView,
	{ failure, isWish = false }: NodeFailure,
	why: readonly string[],
	config: PlannerConfig,
	runTime: number,
): Settled {
	const { round } = view;
	const { roles } = round.cause;
	const words = why.join("; ");
	const reason = roles === undefined ? words : reasonIn(view, roles, words);
	const explained: RoundRecord = {
		...round,
		cause: {
			kind: "scale-down",
			changeEvent: "SCALE_DOWN",
			reason,
			root: null,
			ended: round.synced,
			roles,
		},
		incidents: round.incidents - 1,
		unpaid: undefined,
		fruitless: fruitlessAfterLoss(
			view,
			failure.uptimeMs >= config.settleTimeoutMs,
		),
	};
	const counted = countPreemption(view, explained, config, runTime);
	return {
		round: counted,
		budgets: new Map(),
		goesOn: counted.outcome === null,
		delayMs: delayAfterLoss(view, counted, config),
		reason: isWish
			? `${reason}, nothing failed`
			: `${reason}, which explains ${describeFailure(failure)}`,
	};
}

/** Counts that the round has lost machines, if that is limited: announced or not. Once too often ends the run. */
export function countPreemption(
	view: RunView,
	round: RoundRecord,
	config: PlannerConfig,
	runTime: number,
): RoundRecord {
	const limit = preemptionLimit(config);
	const gone = neededPlaces(view).filter((place) => isPreempted(view, place));
	if (limit === undefined || gone.length === 0) return round;
	const before = round.preempted ?? NOTHING;
	const preempted = withCharge(before, limit, runTime);
	const isOver = usedOf(preempted, limit, runTime) > limit.restarts;
	const words = limitInWords(limit).replace("restarts", "preemptions");
	const outcome = isOver
		? spent(round, `the budget of ${words} is spent`)
		: round.outcome;
	return { ...round, preempted, outcome };
}

function charge(
	view: RunView,
	unpaid: NodeFailure,
	config: PlannerConfig,
	runTime: number,
): Settled {
	const progress = progressOf(view);
	const settled: RoundRecord = {
		...view.round,
		unpaid: undefined,
		repeated: rowAfter(view, unpaid, progress, config),
		furthest: progress.furthest,
		fruitless: fruitlessAfter(view.round, unpaid, progress, config),
	};
	const ends = failedAtStart(view, unpaid, progress, config);
	const cost = ends
		? { round: { ...settled, outcome: ends }, budgets: new Map() }
		: costOf(view, settled, unpaid, config, runTime);
	const isBarred = [...cost.budgets].some(
		([nodeId, budget]) =>
			whyBarred(nodeId, budget, config, runTime) !== undefined,
	);
	const { fruitless = 0, outcome } = cost.round;
	return {
		...cost,
		goesOn: outcome === null && !isBarred,
		delayMs: unpaid.isWish
			? 0
			: restartDelayMs(fruitless, unpaid.failure.id, config),
		reason: `${describeFailure(unpaid.failure)}; no node has gone`,
	};
}

/** What the incident costs, or how it ends the run or its node's part in it. */
function costOf(
	view: RunView,
	round: RoundRecord,
	unpaid: NodeFailure,
	config: PlannerConfig,
	runTime: number,
): Charged {
	const { nodeId } = unpaid.failure;
	const paid = pay(view, round, unpaid, config, runTime);
	const ends = outcomeOf(paid.round, [unpaid], config, runTime);
	const isFull = ends === null && isRowFull(round, config);
	if (!isFull) return { ...paid, round: { ...paid.round, outcome: ends } };
	const barred = whyReplaced(view, unpaid, round, config);
	if (barred === undefined) {
		const outcome = hopeless(paid.round, unpaid);
		return { ...paid, round: { ...paid.round, outcome } };
	}
	const before = paid.budgets.get(nodeId) ?? UNUSED;
	return { ...paid, budgets: new Map([[nodeId, { ...before, barred }]]) };
}

/** @param runTime as `RunTime` has it */
export function pay(
	view: RunView,
	round: RoundRecord,
	root: NodeFailure,
	config: PlannerConfig,
	runTime: number,
): Charged {
	const { charge, failure } = root;
	if (charge === "nothing") return { round, budgets: new Map() };
	if (failure.isUnattributed) {
		return { round: spendOfRun(round, config, runTime), budgets: new Map() };
	}
	const { nodeId, role } = failure;
	const before = view.budgets.get(nodeId) ?? UNUSED;
	const counted = countOnNode(nodeId, before, config, runTime);
	if (counted.barred !== undefined) {
		return { round, budgets: new Map([[nodeId, counted]]) };
	}
	const isOfRun = charge === "run";
	const paid = isOfRun ? spendOfRun(round, config, runTime) : round;
	const budget = isOfRun ? counted : spend(counted, root, config, runTime);
	return {
		round: withRole(paid, role, runTime),
		budgets: budget === before ? new Map() : new Map([[nodeId, budget]]),
	};
}

function spendOfRun(
	round: RoundRecord,
	config: PlannerConfig,
	runTime: number,
): RoundRecord {
	const limit = mainLimit(config);
	const { count, at } = withCharge(spentByRun(round), limit, runTime);
	return { ...round, charged: count, ...(at.length > 0 && { chargedAt: at }) };
}

function withRole(
	round: RoundRecord,
	role: string,
	runTime: number,
): RoundRecord {
	const limit = roleLimit(round, role);
	if (limit === undefined) return round;
	// A role may be called "constructor", a property of every plain object.
	const roles = new Map(Object.entries(round.roles ?? {}));
	roles.set(role, withCharge(roles.get(role) ?? NOTHING, limit, runTime));
	return { ...round, roles: Object.fromEntries(roles) };
}

/** How the run ends because of these failures or a spent budget; null if it continues. */
export function outcomeOf(
	round: RoundRecord,
	fresh: readonly NodeFailure[],
	config: PlannerConfig,
	runTime: number,
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
	const limit = mainLimit(config);
	const words = `the budget of ${limitInWords(limit)}`;
	if (usedOf(spentByRun(round), limit, runTime) > limit.restarts) {
		return spent(round, `${words} is spent`);
	}
	for (const [role, charges] of Object.entries(round.roles ?? {})) {
		const ofRole = roleLimit(round, role);
		if (ofRole && usedOf(charges, ofRole, runTime) > ofRole.restarts) {
			const budget = `the budget of ${limitInWords(ofRole)} of the role ${role}`;
			return spent(round, `${budget} is spent`);
		}
	}
	return null;
}

/** How the run ends because a budget is spent. */
export function spent(
	{ cause: { reason, root } }: RoundRecord,
	words: string,
): Outcome {
	return {
		result: "failed",
		exitCode: 1,
		reason: `${reason}; ${words}`,
		root,
	};
}

/** Counts a failure on its node, also where another pays for it. A node beyond its limit is kept out. */
function countOnNode(
	nodeId: string,
	before: BudgetRecord,
	config: PlannerConfig,
	runTime: number,
): BudgetRecord {
	const limit = nodeLimit(config);
	if (limit === undefined) return before;
	const failures = withCharge(before.failures ?? NOTHING, limit, runTime);
	const used = usedOf(failures, limit, runTime);
	const barred =
		used > limit.restarts
			? `${nodeId} has failed more often than its limit of ${limitInWords(limit)} allows (--max-node-restarts)`
			: undefined;
	return { ...before, failures, ...(barred && { barred }) };
}

/** What a node has used up after one more failure that is charged to it, or to one of its workers. */
function spend(
	before: BudgetRecord,
	{ charge, failure: { localRank } }: NodeFailure,
	config: PlannerConfig,
	runTime: number,
): BudgetRecord {
	const limit = mainLimit(config);
	if (charge === "node") {
		const { count, at } = withCharge(spentByNode(before), limit, runTime);
		return {
			...before,
			charged: count,
			...(at.length > 0 && { chargedAt: at }),
		};
	}
	const spent = spentByWorker(before, localRank);
	const { count, at } = withCharge(spent, limit, runTime);
	return {
		...before,
		workers: { ...before.workers, [localRank]: count },
		...(at.length > 0 && {
			workersAt: { ...before.workersAt, [localRank]: at },
		}),
	};
}

/** Why a node may not take part any more, in words; undefined if it may. */
export function whyBarred(
	nodeId: string,
	budget: BudgetRecord,
	config: PlannerConfig,
	runTime: number,
): string | undefined {
	if (budget.barred !== undefined) return budget.barred;
	const limit = mainLimit(config);
	const isSpent = (spent: Spending) =>
		usedOf(spent, limit, runTime) > limit.restarts;
	const words = `has used up its budget of ${limitInWords(limit)}`;
	const { node, workers } = spentOnNode(budget);
	if (isSpent(node)) return `${nodeId} ${words}`;
	const worker = [...workers].find(([, spent]) => isSpent(spent));
	return worker && `local rank ${worker[0]} of ${nodeId} ${words}`;
}
