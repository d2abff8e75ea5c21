import {
	type History,
	lifts,
	predecessor,
	type WorkerHistory,
} from "./history.js";
import { lateFor } from "./worker-history.js";

/** What the simulator is played for where workers listen. */
export const SOFT_SITUATIONS = [
	"a worker is paused, and works again",
	"a worker dies while it is paused",
	"a worker finishes while it is paused",
	"a worker that never said HELLO is ended in place of a PAUSE",
	"a worker acknowledges late",
	"a worker that has acknowledged before does not in time",
	"a worker cannot be told of a change",
	"an agent that may have lost its lease pauses its workers, and they go on",
	"only the worker that failed is started again",
	"a node stays finished while others go on",
	"a wish for another round is free: a node has gone",
	"a wish for another round is paid for",
	"a failure takes the place of a wish",
	"workers die of another's failure",
	"a worker dies of an incident that is over",
] as const;

type SoftSituation = (typeof SOFT_SITUATIONS)[number];

export function* softSituationsOf(history: History): Iterable<SoftSituation> {
	for (const worker of history.workers) yield* ofWorker(worker, history);
	yield* ofCommits(history);
	yield* ofRounds(history);
}

function* ofWorker(
	worker: WorkerHistory,
	history: History,
): Iterable<SoftSituation> {
	const { pauseTimeoutMs, endedAt } = history;
	const { stints, told, failed, succeeded, untoldAt, process } = worker;
	if (stints.length > 1) yield "a worker is paused, and works again";
	if (untoldAt !== null) yield "a worker cannot be told of a change";
	const ended = stints.at(-1)?.pausedAt !== null;
	if (isDeaf(worker, history)) {
		yield "a worker that never said HELLO is ended in place of a PAUSE";
	}
	if (ended && failed) yield "a worker dies while it is paused";
	if (ended && succeeded) yield "a worker finishes while it is paused";
	const pauses = told.filter(({ kind }) => kind === "PAUSE");
	for (const { at } of pauses) {
		const isFenced = process.lossesTold.some(
			(lost) => lost <= at && lost > at - 50,
		);
		const worksAgain = told.some(
			(event) => event.kind === "WORK" && event.at > at,
		);
		if (isFenced && worksAgain) {
			yield "an agent that may have lost its lease pauses its workers, and they go on";
		}
	}
	for (const { at, acknowledgedAt } of lateFor(
		worker,
		pauseTimeoutMs,
		endedAt,
	)) {
		if (acknowledgedAt !== null) yield "a worker acknowledges late";
		const earlier = pauses.some(
			(pause) => pause.at < at && pause.acknowledgedAt !== null,
		);
		if (earlier) yield "a worker that has acknowledged before does not in time";
	}
}

/** It is told to end in the moment in which another of its node is paused. */
function isDeaf(worker: WorkerHistory, { workers }: History): boolean {
	const { greetedAt, signalledAt, process } = worker;
	return (
		greetedAt === null &&
		workers.some(
			(other) =>
				other.process === process &&
				other.stints.some(({ pausedAt }) => pausedAt === signalledAt) &&
				signalledAt !== null,
		)
	);
}

function* ofCommits(history: History): Iterable<SoftSituation> {
	for (const [index, { round }] of history.commits.entries()) {
		const before = predecessor(history, index)?.round;
		if (before === undefined) continue;
		const isMore = round.accounted.length > before.accounted.length;
		if (before.unpaid?.isWish && !round.unpaid?.isWish) {
			if (isMore) yield "a failure takes the place of a wish";
			else if (round.incidents < before.incidents) {
				yield "a wish for another round is free: a node has gone";
			} else yield "a wish for another round is paid for";
		}
		if (!isMore || round.incidents > before.incidents) continue;
		yield round.cause.reason.endsWith("part of the same incident")
			? "a worker dies of an incident that is over"
			: "workers die of another's failure";
	}
}

function* ofRounds(history: History): Iterable<SoftSituation> {
	for (const { at, finished, seats, round } of lifts(history)) {
		if (history.spec.finishedStay && finished.size > 0) {
			yield "a node stays finished while others go on";
		}
		for (const { incarnation } of seats.values()) {
			const own = history.workers.filter(
				({ process }) => process.incarnation === incarnation,
			);
			const now = own.filter(({ stints }) =>
				stints.some(
					(stint) =>
						stint.round === round.synced && stint.instance === round.instance,
				),
			);
			const kept = now.filter(({ startedAt }) => startedAt < at);
			const hasFailed = own.some(
				({ failed, stints }) =>
					failed && stints.at(-1)?.round === round.synced - 1,
			);
			if (hasFailed && kept.length > 0 && kept.length < now.length) {
				yield "only the worker that failed is started again";
			}
		}
	}
}
