import { LOOK_EVERY_MS } from "../../../src/rendezvous/member/reconcile-loop.js";
import { RIDES_END } from "../../../src/rendezvous/planner/riders.js";
import type { NodeRecord } from "../../../src/rendezvous/records/records.js";
import {
	type Checker,
	type History,
	isWithin,
	type ProcessHistory,
	type Word,
} from "../history.js";

/** It looks, writes and ends the lease; a last write of the dead may come in between. */
const MOST_MESSAGES = 10;

/** An election and a plan, beside messages, in milliseconds; shorter than any lease. */
const LEFT_WITHIN_MS = 1_500;

/** Nobody waits for the lease of an agent of which it was heard that it is dead. */
export const atOnce: Checker = {
	name: "at-once",
	*check(history) {
		for (const word of history.words) {
			const { at, of } = word;
			// It reads where the lease is, and ends it.
			const heldUntil = at + MOST_MESSAGES * history.slowestMessageMs + 1;
			if (!isQuiet([word.by, of], at, heldUntil, history)) continue;
			const known = recordOf(of, at, history);
			if (known === undefined) continue;
			if (recordOf(of, heldUntil, history) !== undefined) {
				const what = `the record of ${of.incarnation} stands after the word`;
				yield { at: heldUntil, what };
			}
			if (known.state !== "finished") yield* whetherLeft(word, history);
		}
	},
};

/** Where nothing else happens, the round of the dead agent is left. */
function* whetherLeft({ at, of }: Word, history: History) {
	const until = at + LEFT_WITHIN_MS;
	const others = history.processes.filter(({ startedAt }) => startedAt < until);
	const stands = history.commits.findLast((commit) => commit.at <= at);
	const { round, seats } = stands ?? {};
	const runs = round?.outcome === null && round.synced > round.deprecated;
	const isMember = seats?.get(of.nodeId)?.incarnation === of.incarnation;
	if (!runs || !isMember) return;
	// Of another that is dead it is not known yet: it may have been the coordinator.
	const isOneDead = others.some(
		(other) =>
			other !== of &&
			other.endedAt !== null &&
			recordOf(other, at, history) !== undefined,
	);
	if (isOneDead || !isQuiet(others, at, until, history)) return;
	if (mayBePromised(others, at, history)) return;
	const members = others.filter(
		(other) => seats?.get(other.nodeId)?.incarnation === other.incarnation,
	);
	if (members.some((other) => other !== of && mayRide(other, at, history))) {
		return;
	}
	const isLeft = history.commits.some(
		(commit) =>
			commit.at > at &&
			commit.at <= until &&
			(commit.round.deprecated >= round.synced ||
				commit.round.outcome !== null),
	);
	if (isLeft) return;
	const what = `round ${round.synced} goes on after the word that ${of.incarnation} is dead`;
	yield { at: until, what };
}

/** Whether one of them may have promised to plan nothing: so long after an outage it still holds. */
function mayBePromised(
	processes: readonly ProcessHistory[],
	at: number,
	{ spec: { rideOutMs, leaseTtlMs } }: History,
): boolean {
	const since = at - RIDES_END * leaseTtlMs - LOOK_EVERY_MS;
	return (
		rideOutMs !== undefined &&
		processes.some(({ disturbed }) => isWithin(disturbed, since, at))
	);
}

/** Whether its lease has lapsed, and nobody has heard that it is dead: for all that is known it works on without the store. */
function mayRide(
	process: ProcessHistory,
	at: number,
	history: History,
): boolean {
	return (
		history.spec.rideOutMs !== undefined &&
		recordOf(process, at, history) === undefined &&
		history.words.every((word) => word.of !== process || word.at > at)
	);
}

/** Whether nothing disturbed these processes, and those that lived live on. */
function isQuiet(
	processes: readonly ProcessHistory[],
	at: number,
	until: number,
	{ endedAt: end }: History,
): boolean {
	return (
		until <= end &&
		processes.every(
			({ disturbed, frozen, endedAt }) =>
				!isWithin([...disturbed, ...frozen], at - LOOK_EVERY_MS, until) &&
				(endedAt === null || endedAt < at || endedAt > until),
		)
	);
}

/** What the record of a process says, where it stands. */
function recordOf(
	{ nodeId, incarnation }: ProcessHistory,
	at: number,
	{ records }: History,
): NodeRecord | undefined {
	const last = records.findLast(
		(change) => change.nodeId === nodeId && change.at <= at,
	)?.record;
	return last?.incarnation === incarnation ? last : undefined;
}
