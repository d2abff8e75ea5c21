import type {
	NodeFailure,
	NodeRecord,
	RoundRecord,
} from "../../../src/rendezvous/records/records.js";
import {
	type Checker,
	type History,
	lifts,
	predecessor,
	type RoundCommit,
	spentBy,
	type WorkerHistory,
} from "../history.js";
import { lateFor } from "../worker-history.js";

/** What a worker has said may be heard so much later, in milliseconds. */
const NEWS_MS = 1_500;

/** One incident costs one unit of one budget, and nothing else costs anything; in an incident a place is free once. */
export const budget: Checker = {
	name: "budget",
	*check(history) {
		for (const [index, commit] of history.commits.entries()) {
			const before = predecessor(history, index);
			if (before === undefined) continue;
			yield* costOf(commit, before);
			yield* excuses(commit, before, history);
			yield* reasonFor(commit, before, history);
		}
		yield* perRound(history);
		yield* freeOnce(history);
	},
};

function* costOf(commit: RoundCommit, before: RoundCommit) {
	const { at, round, nodes } = commit;
	const incidents = certain(round) - certain(before.round);
	const charged = total(commit) - total(before) + forgiven(commit, before);
	if (incidents < 0 || incidents > 1) {
		yield { at, what: `${incidents} incidents at once` };
	}
	const { root } = round.cause;
	const reported = root ? nodes.get(root.nodeId)?.failure : undefined;
	const isKnown = reported?.failure.id === root?.id;
	const mayBeFree = !isKnown || reported?.charge === "nothing";
	const mustBeFree = incidents === 0 || (isKnown && mayBeFree);
	if (charged < 0 || charged > incidents || (mustBeFree && charged > 0)) {
		yield { at, what: `${incidents} incidents cost ${charged}` };
	}
	if (charged < incidents && !mayBeFree) {
		yield { at, what: "an incident cost nothing" };
	}
}

/** What is accounted for without an incident has something else to blame. */
function* excuses(commit: RoundCommit, before: RoundCommit, history: History) {
	const { at, round } = commit;
	const { unpaid } = before.round;
	// What has failed takes the place of a wish.
	const isIncident =
		round.incidents > before.round.incidents ||
		(unpaid?.isWish === true && round.cause.root?.id !== unpaid.failure.id);
	const fresh = freshFailures(commit, before);
	const hasFailure = fresh.some(({ isWish = false }) => !isWish);
	const lift = lifts(history).findLast((lifted) => lifted.at <= before.at);
	const isOver =
		at - (lift?.at ?? at) >= history.spec.settleTimeoutMs &&
		before.round.synced > before.round.deprecated;
	for (const reported of fresh) {
		const { failure, isWish = false } = reported;
		const isPart = belongsBefore(reported, before.round);
		// What has failed explains why others wait.
		const isExcused = isPart || (isWish && hasFailure);
		if (!isIncident && !isExcused) {
			yield {
				at,
				what: `failure ${failure.id} cost nothing, and was the first`,
			};
		}
		const isCharged = isIncident && round.cause.root?.id === failure.id;
		if (isCharged && isExcused && !isOver) {
			const what = `failure ${failure.id} is charged for what came before it`;
			yield { at, what };
		}
	}
}

/** It belongs to what has ended its round; of a round that runs, where its worker was kept and had not gone on. */
function belongsBefore(
	{ failure, unaware = false, paused = false, isWish = false }: NodeFailure,
	{ deprecated, unpaid }: RoundRecord,
): boolean {
	if (failure.round > deprecated) return paused;
	if (unpaid?.isWish && !isWish) return false;
	return unpaid !== undefined || unaware || paused;
}

/** Within one incident, or one change, a place is free once. */
function* freeOnce(history: History) {
	const free = new Set<string>();
	for (const [index, commit] of history.commits.entries()) {
		const before = predecessor(history, index);
		if (before === undefined) continue;
		const { at, round } = commit;
		const { root, ended } = before.round.cause;
		const firstRound = root?.round ?? ended ?? 0;
		for (const { failure, paused } of freshFailures(commit, before)) {
			if (!paused || round.cause.root?.id === failure.id) continue;
			// It was told late, and is older than this incident (seed 16654).
			if (failure.round < firstRound) continue;
			const process = failure.id.split("/", 2).join("/");
			const incident = `${round.instance}/${firstRound}`;
			const place = `${incident} ${process} ${failure.localRank}`;
			if (free.has(place)) {
				yield { at, what: `failure ${failure.id} is free in its place again` };
			}
			free.add(place);
		}
	}
}

/** The failures that this commit has accounted for. */
function freshFailures(
	{ round, nodes }: RoundCommit,
	before: RoundCommit,
): readonly NodeFailure[] {
	return [...nodes.values()].flatMap(({ failure }) => {
		const id = failure?.failure.id ?? "";
		const isNew =
			round.accounted.includes(id) && !before.round.accounted.includes(id);
		return failure && isNew ? [failure] : [];
	});
}

/** What has been charged to the run and to all nodes together. */
function total({ round, budgets }: RoundCommit): number {
	return [...budgets.values()].reduce(
		(sum, one) => sum + spentBy(one),
		round.charged,
	);
}

/** What nodes had used up whose replacement has come. */
function forgiven({ reset }: RoundCommit, before: RoundCommit): number {
	return [...reset]
		.filter((nodeId) => !before.reset.has(nodeId))
		.reduce((sum, nodeId) => {
			const budget = before.budgets.get(nodeId);
			return sum + (budget ? spentBy(budget) : 0);
		}, 0);
}

/** Incidents, but for one of which it is not known yet whether it is paid for. */
function certain({ incidents, unpaid }: RoundRecord): number {
	return incidents - (unpaid ? 1 : 0);
}

function* reasonFor(
	{ at, round, nodes }: RoundCommit,
	previous: RoundCommit,
	history: History,
) {
	const { round: before } = previous;
	const { workers, spec } = history;
	const isIncident = certain(round) > certain(before);
	if (isIncident || (round.unpaid && !before.unpaid)) {
		const { root } = round.cause;
		const culprit = workers.find(
			(worker) =>
				worker.process.nodeId === root?.nodeId && worker.pid === root.pid,
		);
		// A worker that could not be started has no process.
		const isProven = culprit !== undefined && hasFailed(culprit, history);
		if (root === null || (root.pid !== null && !isProven)) {
			yield { at, what: "an incident was charged that no failure caused" };
		}
		const isRunning = before.synced > before.deprecated;
		const reporter = nodes.get(root?.nodeId ?? "");
		// A record may vanish between the planner's look and what it writes.
		const mayConcern =
			reporter === undefined
				? (root?.round ?? 0) >= before.synced - 1
				: concerns(reporter, previous);
		if (isRunning && root !== null && !mayConcern) {
			yield { at, what: `round ${before.synced} pays for ${root.round}` };
		}
		if (round.deprecated < before.synced) {
			yield { at, what: `round ${before.synced} goes on after its incident` };
		}
	}
	if (round.charged > spec.maxRestarts && round.outcome === null) {
		yield { at, what: "the run goes on with its budget overdrawn" };
	}
}

/** It ended as it should not, could not be told something, was late to acknowledge, or waited for another round. */
function hasFailed(
	worker: WorkerHistory,
	{ pauseTimeoutMs, endedAt }: History,
): boolean {
	const { failed, untoldAt, waited } = worker;
	const isLate = lateFor(worker, pauseTimeoutMs - NEWS_MS, endedAt).length > 0;
	return failed || untoldAt !== null || waited.length > 0 || isLate;
}

/** Between two lifts there is at most one incident, and each failure that was reported belongs to one. */
function* perRound(history: History) {
	const accounted = new Set<string>();
	const lifted = new Set(lifts(history));
	let before: RoundCommit | undefined;
	for (const [index, commit] of history.commits.entries()) {
		const previous = predecessor(history, index);
		if (previous === undefined) before = undefined;
		for (const id of commit.round.accounted) {
			if (accounted.has(id) && !previous?.round.accounted.includes(id)) {
				yield { at: commit.at, what: `failure ${id} was accounted for twice` };
			}
			accounted.add(id);
		}
		if (!lifted.has(commit)) continue;
		const { at, round, nodes } = commit;
		const incidents = before ? round.incidents - before.round.incidents : 0;
		if (incidents > 1)
			yield { at, what: `${incidents} incidents in one round` };
		for (const { failure } of nodes.values()) {
			if (failure === null) continue;
			// One that came in the same moment could not be seen by who lifted.
			const { id, nodeId } = failure.failure;
			const reporter = previous?.nodes.get(nodeId);
			if (id !== reporter?.failure?.failure.id) continue;
			if (!concerns(reporter, before) || accounted.has(id)) continue;
			yield { at, what: `failure ${id} was never charged` };
		}
		before = commit;
	}
}

/**
 * Whether what a node has reported concerns this round: it is of it, or of the one before
 * and crossed with it, so that a node of this one leaves it, or would end the run.
 */
function concerns(
	reporter: NodeRecord | undefined,
	standing: RoundCommit | undefined,
): boolean {
	const { failure, claim = 0, incarnation } = reporter ?? {};
	if (!reporter || !failure || !standing) return false;
	const { synced } = standing.round;
	const seat = standing.seats.get(reporter.nodeId);
	const isLeft = claim > synced || failure.failsRun !== null;
	const mayCross = isLeft && seat?.incarnation === incarnation;
	const { round } = failure.failure;
	return round === synced || (mayCross && round === synced - 1);
}
