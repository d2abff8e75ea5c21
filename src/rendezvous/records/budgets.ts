import { formatCount } from "../../base/units.js";
import type { RestartLimit } from "../../model/index.js";
import {
	type BudgetRecord,
	RECORD_VERSION,
	type RoundRecord,
	type Spending,
} from "./records.js";
import type { RunSpec } from "./run-spec.js";

type Limits = Pick<
	RunSpec,
	| "maxRestarts"
	| "restartWindowMs"
	| "maxNodeRestarts"
	| "nodeWindowMs"
	| "maxPreemptions"
	| "preemptionWindowMs"
>;

/** `--max-restarts`: of the run, a node or a worker, as the policy charges. */
export function mainLimit({
	maxRestarts,
	restartWindowMs = 0,
}: Limits): RestartLimit {
	return { restarts: maxRestarts, windowMs: restartWindowMs };
}

/** `--max-node-restarts`; undefined: none. */
export function nodeLimit({
	maxNodeRestarts,
	nodeWindowMs = 0,
}: Limits): RestartLimit | undefined {
	return maxNodeRestarts === undefined
		? undefined
		: { restarts: maxNodeRestarts, windowMs: nodeWindowMs };
}

/** `--max-preemptions`; undefined: none. */
export function preemptionLimit({
	maxPreemptions,
	preemptionWindowMs = 0,
}: Limits): RestartLimit | undefined {
	return maxPreemptions === undefined
		? undefined
		: { restarts: maxPreemptions, windowMs: preemptionWindowMs };
}

/** `--max-role-restarts` of a role's agents; undefined: none. */
export function roleLimit(
	{ terms = {} }: Pick<RoundRecord, "terms">,
	role: string,
): RestartLimit | undefined {
	// A role may be called "constructor", a property of every plain object.
	const own = Object.hasOwn(terms, role) ? terms[role] : undefined;
	return own?.maxRestarts === undefined
		? undefined
		: { restarts: own.maxRestarts, windowMs: own.windowMs ?? 0 };
}

/** Nothing was charged. */
export const NOTHING: Spending = { count: 0, at: [] };

/** The record of a node that has paid nothing yet. */
export const UNUSED: BudgetRecord = { version: RECORD_VERSION, charged: 0 };

/**
 * What counts of a budget's charges. Times are the run's, as the planner's `RunTime` has them; one that is later than now
 * comes from a coordinator that had counted further than its successor knows, and counts.
 */
export function usedOf(
	{ count, at }: Spending,
	{ windowMs }: Pick<RestartLimit, "windowMs">,
	runTime: number,
): number {
	if (windowMs === 0) return count;
	return at.filter((time) => time > runTime - windowMs).length;
}

/** The budget's charges and one more. Times are kept only where they count. */
export function withCharge(
	{ count, at }: Spending,
	{ restarts, windowMs }: RestartLimit,
	runTime: number,
): Spending {
	const kept = windowMs === 0 ? [] : [...at, runTime].slice(-(restarts + 1));
	return { count: count + 1, at: kept };
}

/** When the next restart comes back; null if none does. */
export function comesBackAt(
	{ at }: Spending,
	{ windowMs }: RestartLimit,
	runTime: number,
): number | null {
	const counting = at.filter((time) => time > runTime - windowMs);
	return windowMs === 0 || counting.length === 0
		? null
		: Math.min(...counting) + windowMs;
}

/** "3 restarts", "3 restarts in 6h". */
export function limitInWords({ restarts, windowMs }: RestartLimit): string {
	const words = formatCount(restarts, "restart");
	return windowMs === 0 ? words : `${words} in ${windowInWords(windowMs)}`;
}

/** "6h", "90m", "45s". */
export function windowInWords(windowMs: number): string {
	const units = [
		["h", 3_600_000],
		["m", 60_000],
		["s", 1_000],
	] as const;
	const [unit, ms] = units.find(([, size]) => windowMs % size === 0) ?? [
		"ms",
		1,
	];
	return `${windowMs / ms}${unit}`;
}

/** What the run's own budget has paid. */
export function spentByRun({
	charged,
	chargedAt = [],
}: Pick<RoundRecord, "charged" | "chargedAt">): Spending {
	return { count: charged, at: chargedAt };
}

export function spentByNode({
	charged,
	chargedAt = [],
}: BudgetRecord): Spending {
	return { count: charged, at: chargedAt };
}

export function spentByWorker(
	{ workers = {}, workersAt = {} }: BudgetRecord,
	localRank: number | string,
): Spending {
	return { count: workers[localRank] ?? 0, at: workersAt[localRank] ?? [] };
}

/** What a node and its workers have used up of `--max-restarts`, the workers by local rank. */
export function spentOnNode(budget: BudgetRecord): {
	readonly node: Spending;
	readonly workers: ReadonlyMap<string, Spending>;
} {
	const ranks = Object.keys(budget.workers ?? {});
	return {
		node: spentByNode(budget),
		workers: new Map(ranks.map((rank) => [rank, spentByWorker(budget, rank)])),
	};
}

/** The number of incidents without one whose charge is still open, so that it never falls. */
export function countIncidents({ incidents, unpaid }: RoundRecord): number {
	return incidents - (unpaid === undefined ? 0 : 1);
}
