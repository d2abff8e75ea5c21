import { isRestarting } from "../records/candidates.js";
import { describeFailure, type FailureRecord } from "../records/failure.js";
import { currentPlaces, holderOf, isRefused } from "../records/places.js";
import type {
	NodeFailure,
	Outcome,
	RepeatedFailure,
	RoundRecord,
} from "../records/records.js";
import type { RunView } from "../records/run-view.js";
import { lastWordOf, neededPlaces } from "./departures.js";
import type { PlannerConfig } from "./plan.js";

/** How far the round came that was left last, by the roles that restart: others run on, whatever these do. */
interface RoundProgress {
	/** The furthest step of all rounds, by role; undefined if none counts steps. */
	readonly furthest: RoundRecord["furthest"];
	/** One of these roles counts steps, now or before. */
	readonly countsSteps: boolean;
	/** These are the first steps of these roles. */
	readonly isFirst: boolean;
	/** Steps were made in it. */
	readonly hasSteps: boolean;
	/** A role came further than in all rounds before, or may have: where steps go back, nobody knows. */
	readonly isFurther: boolean;
}

/** All members that are there say how far they came when they leave a round. */
export function progressOf({ round, nodes }: RunView): RoundProgress {
	const furthest = new Map(Object.entries(round.furthest ?? {}));
	const countsSteps = () =>
		[...furthest.keys()].some((role) => isRestarting(round, role));
	const didCount = countsSteps();
	let hasSteps = false;
	let isFurther = false;
	for (const { record } of nodes.values()) {
		const { reached, role, instance } = record;
		const isOfRound = reached?.round === round.synced;
		if (!isOfRound || instance !== round.instance) continue;
		if (!isRestarting(round, role)) continue;
		hasSteps = true;
		const before = furthest.get(role) ?? Number.NEGATIVE_INFINITY;
		if (reached.step !== null && reached.step <= before) continue;
		isFurther = true;
		if (reached.step !== null) furthest.set(role, reached.step);
	}
	return {
		furthest: furthest.size === 0 ? undefined : Object.fromEntries(furthest),
		countsSteps: countsSteps(),
		isFirst: !didCount && countsSteps(),
		hasSteps,
		isFurther,
	};
}

/** Whether anything was seen to work in the round of this failure: a step, or where none is counted, its time. */
function hasMoved(
	{ hasSteps, countsSteps }: RoundProgress,
	{ failure }: NodeFailure,
	{ settleTimeoutMs }: Pick<PlannerConfig, "settleTimeoutMs">,
): boolean {
	return hasSteps || (!countsSteps && failure.uptimeMs >= settleTimeoutMs);
}

/**
 * Whether the round of this failure came further than all before. Where no worker of these roles counts steps, a worker that has
 * run for the settle time is taken to have.
 */
function cameFurther(
	{ isFurther, countsSteps }: RoundProgress,
	{ failure }: NodeFailure,
	{ settleTimeoutMs }: Pick<PlannerConfig, "settleTimeoutMs">,
): boolean {
	return isFurther || (!countsSteps && failure.uptimeMs >= settleTimeoutMs);
}

/** Where doubling begins if no least delay is set, in milliseconds. */
const FIRST_MS = 250;
const MOST_DOUBLINGS = 30;

type Delays = Pick<
	PlannerConfig,
	"restartDelayMs" | "restartDelayMaxMs" | "settleTimeoutMs"
>;

/**
 * How many incidents in a row have ended a round in which nothing moved, with this one. A worker that somebody killed, or one
 * that waits for another round, does not show that a restart is in vain.
 */
export function fruitlessAfter(
	{ fruitless = 0 }: RoundRecord,
	root: NodeFailure,
	progress: RoundProgress,
	config: Delays,
): number {
	if (hasMoved(progress, root, config)) return 0;
	const { signal, fingerprint } = root.failure;
	const isKilled = signal !== null && fingerprint === undefined;
	return isKilled || root.isWish ? fruitless : fruitless + 1;
}

/**
 * The same where members went without a failure that counts, as on a machine too slow for its leases. One that was asked to
 * go does not show that a restart is in vain. The steps of the round are told later.
 */
export function fruitlessAfterLoss(view: RunView, hasLived: boolean): number {
	const { fruitless = 0 } = view.round;
	if (hasLived && !progressOf(view).countsSteps) return 0;
	const isAsked = neededPlaces(view).some(
		(place) => lastWordOf(view, place)?.state === "leaving",
	);
	return isAsked ? fruitless : fruitless + 1;
}

/** How long to wait after a loss, in milliseconds. */
export function delayAfterLoss(
	view: RunView,
	{ fruitless = 0, planId }: Pick<RoundRecord, "fruitless" | "planId">,
	config: Delays,
): number {
	const { hasSteps } = progressOf(view);
	return hasSteps ? 0 : restartDelayMs(fruitless, planId ?? "", config);
}

/**
 * How long to wait before the restart, in milliseconds: not at all at first, then twice as long each time, less a part that
 * spreads runs that failed together. It follows from the id alone, so a new coordinator waits until the same time.
 */
export function restartDelayMs(
	fruitless: number,
	id: string,
	{ restartDelayMs: least = 0, restartDelayMaxMs: most = 0 }: Delays,
): number {
	if (fruitless < 2 || most === 0) return 0;
	const doublings = Math.min(fruitless - 2, MOST_DOUBLINGS);
	const full = Math.min(most, Math.max(least, FIRST_MS) * 2 ** doublings);
	return Math.round(Math.max(least, full * (0.5 + spread(id) / 2)));
}

/** A number in [0, 1) that differs from one id to the next. */
function spread(id: string): number {
	let hash = 0x811c9dc5;
	for (let at = 0; at < id.length; at += 1) {
		hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
	}
	return (hash >>> 0) / 2 ** 32;
}

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

/**
 * How the run ends because all nodes of its first round fail in the same way before any step, and no restart changes that;
 * undefined if it goes on. What a rule decides, or what costs nothing, is expected. A node that has not tried, or that
 * `--max-node-restarts` asks for, may have what the others lack.
 */
export function failedAtStart(
	view: RunView,
	{ charge, failure }: NodeFailure,
	{ hasSteps }: RoundProgress,
	{ maxIdenticalFailures = 0, maxNodeRestarts }: PlannerConfig,
): Outcome | undefined {
	const { round } = view;
	const isFirst = round.synced === 1 && round.cause.roles === undefined;
	const isExpected = charge === "nothing" || failure.rule !== undefined;
	if (!isFirst || hasSteps || isExpected || maxIdenticalFailures === 0) {
		return undefined;
	}
	const places = currentPlaces(view);
	const isOfAll = places.every((place) => {
		const own = holderOf(view, place)?.record.failure?.failure;
		return own?.round === 1 && own.fingerprint === failure.fingerprint;
	});
	const hasOthers =
		view.nodes.size > places.length || maxNodeRestarts !== undefined;
	if (!isOfAll || hasOthers || !failure.isInVain) return undefined;
	return {
		result: "failed",
		exitCode: 1,
		reason: `${describeFailure(failure)}; nothing was started again: no restart can change that (--max-identical-failures 0 tries all the same)`,
		root: round.cause.root ?? failure,
	};
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
export function whyReplaced(
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
