import { describeFailure, type FailureRecord } from "../records/failure.js";
import { isRefused } from "../records/places.js";
import type {
	BudgetRecord,
	NodeFailure,
	Outcome,
	RepeatedFailure,
	RoundRecord,
} from "../records/records.js";
import type { RunView } from "../records/run-view.js";
import type { PlannerConfig } from "./plan.js";
import { cameFurther, type RoundProgress } from "./progress.js";

/** The report quotes so many of them, the newest. */
const MOST_LINES = 10;
const LONGEST_LINE = 400;

/**
 * The row of same failures after one more incident. Progress ends it, and so does another failure, or one that the program
 * is perhaps not to blame for. What costs nothing by a rule or a policy is expected, and leaves the row as it is.
 */
export function rowAfter(
	view: RunView,
	root: NodeFailure,
	progress: RoundProgress,
	config: PlannerConfig,
): RepeatedFailure | undefined {
	const { repeated: before } = view.round;
	const { fingerprint, nodeId, step } = root.failure;
	if (root.charge === "nothing") return before;
	if (fingerprint === undefined || isPeerKilled(view)) return undefined;
	const line = lineOf(root.failure);
	const isSame =
		before?.fingerprint === fingerprint &&
		!isFurther(before, root, progress, config);
	return isSame
		? {
				fingerprint,
				times: before.times + 1,
				step: furthestOf(before.step, step),
				nodes: [...new Set([...before.nodes, nodeId])],
				lines: [...before.lines, line].slice(-MOST_LINES),
			}
		: { fingerprint, times: 1, step, nodes: [nodeId], lines: [line] };
}

/**
 * The failed worker's own steps tell it best: others may run ahead of it. Where it counts none, those of all workers do. Only
 * their very first one may be chance, if it came before the end of a worker that fails at its start.
 */
function isFurther(
	before: RepeatedFailure,
	root: NodeFailure,
	progress: RoundProgress,
	config: PlannerConfig,
): boolean {
	const { step, uptimeMs } = root.failure;
	if (step !== undefined && before.step !== undefined) {
		return step > before.step;
	}
	return step === undefined && progress.isFirst
		? uptimeMs >= config.settleTimeoutMs
		: cameFurther(progress, root, config);
}

function furthestOf(
	before: number | undefined,
	step: number | undefined,
): number | undefined {
	if (before === undefined || step === undefined) return before ?? step;
	return Math.max(before, step);
}

/** A worker that somebody has killed may be why the others failed. */
function isPeerKilled({ nodes, round }: RunView): boolean {
	return [...nodes.values()].some(({ record: { failure } }) => {
		if (failure === null || failure.isWish) return false;
		const { round: failedIn, fingerprint } = failure.failure;
		return failedIn === round.synced && fingerprint === undefined;
	});
}

/** "round 3, step 100: rank 2 on node-b: exit code 1: ValueError: bad batch, at train.py:41 in load". */
function lineOf(failure: FailureRecord): string {
	const { round, step, said } = failure;
	const when =
		step === undefined ? `round ${round}` : `round ${round}, step ${step}`;
	const words = `${when}: ${describeFailure(failure)}`;
	const isNew = said !== undefined && !words.includes(said);
	const line = isNew ? `${words}: ${said}` : words;
	return line.length <= LONGEST_LINE ? line : `${line.slice(0, LONGEST_LINE)}…`;
}

export function isRowFull(
	{ repeated }: Pick<RoundRecord, "repeated">,
	{ maxIdenticalFailures = 0 }: Pick<PlannerConfig, "maxIdenticalFailures">,
): boolean {
	return (
		maxIdenticalFailures > 0 && (repeated?.times ?? 0) >= maxIdenticalFailures
	);
}

/** How the run ends because no restart helps. */
export function hopeless(
	{ furthest = {}, repeated, cause }: RoundRecord,
	{ failure }: NodeFailure,
): Outcome {
	const steps = Object.values(furthest);
	// Those of roles that run on say nothing of the one that fails.
	const isOfAll = steps.length > 0 && cause.roles === undefined;
	const ofAll = isOfAll ? Math.max(...steps) : undefined;
	const step = repeated?.step ?? furthest[failure.role] ?? ofAll;
	const limit =
		step === undefined
			? "no restart got any further"
			: `no restart got beyond step ${step}`;
	return {
		result: "failed",
		exitCode: 1,
		reason: `${describeFailure(failure)}; ${limit}: ${repeated?.times} failures in a row were the same (--max-identical-failures)`,
		root: cause.root ?? failure,
		repeated: repeated?.lines,
	};
}

/**
 * Why the node of the failures is to be replaced instead; undefined if the run ends. Only where a budget of its own would have
 * kept it out too, and where the others can go on or `--max-node-restarts` asks for its replacement.
 */
export function barredNode(
	view: RunView,
	{ charge, failure }: NodeFailure,
	{ repeated }: Pick<RoundRecord, "repeated">,
	{ minNodes, maxNodeRestarts, isAlone = false }: PlannerConfig,
): string | undefined {
	const { nodeId, isUnattributed = false } = failure;
	const isLimited = maxNodeRestarts !== undefined;
	const isOfNode = isLimited || charge === "node" || charge === "worker";
	const isOnlyThere = repeated?.nodes.every((one) => one === nodeId) ?? false;
	if (isAlone || isUnattributed || !isOfNode || !isOnlyThere) return undefined;
	const others = [...view.nodes.values()].filter(
		(node) =>
			node.record.nodeId !== nodeId &&
			node.record.state !== "leaving" &&
			!isRefused(view, node),
	);
	return others.length < minNodes && !isLimited
		? undefined
		: `${nodeId} has failed ${repeated?.times} times in a row in the same way (--max-identical-failures)`;
}

/** The node's budget record once it is kept out. */
export function barred(
	before: BudgetRecord,
	why: string | undefined,
): BudgetRecord {
	return why === undefined ? before : { ...before, barred: why };
}
