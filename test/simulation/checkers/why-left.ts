import type {
	NodeRecord,
	SeatRecord,
} from "../../../src/rendezvous/records/records.js";
import {
	type Checker,
	type History,
	predecessor,
	type RoundCommit,
} from "../history.js";
import { recordsNear } from "../records-near.js";

/**
 * No round is left without a reason in the members' records: a failure, a member
 * that is not in it any more, or newcomers for whom there is a seat.
 */
export const whyLeft: Checker = {
	name: "why-left",
	*check(history) {
		for (const [index, commit] of history.commits.entries()) {
			const before = predecessor(history, index);
			if (before === undefined) continue;
			if (commit.round.deprecated === before.round.deprecated) continue;
			const { at, round } = commit;
			const { kind, reason } = round.cause;
			if (round.accounted.length > before.round.accounted.length) continue;
			const isTrue =
				kind === "scale-up"
					? someoneWaits(commit, before, history)
					: [...before.seats].some((seat) => hasLeft(seat, commit, history));
			if (isTrue) continue;
			yield {
				at,
				what: `round ${round.synced} was left for nothing: ${reason}`,
			};
		}
	},
};

/** A member's record was gone, another's, leaving, or claimed a later round. */
function hasLeft(
	[nodeId, { incarnation, round }]: readonly [string, SeatRecord],
	commit: RoundCommit,
	history: History,
): boolean {
	return recordsNear(nodeId, commit, history).some(
		(record) =>
			hasGone(record, incarnation) || (record !== null && record.claim > round),
	);
}

/** Whether this is not the record of a process that is there, and stays. */
export function hasGone(
	record: NodeRecord | null,
	incarnation: string,
): boolean {
	return (
		record === null ||
		record.incarnation !== incarnation ||
		record.state === "leaving"
	);
}

function someoneWaits(
	commit: RoundCommit,
	before: RoundCommit,
	history: History,
): boolean {
	if (before.seats.size >= history.spec.maxNodes) return false;
	if (someoneFinished(commit, before, history)) return false;
	// A seat for nobody: who has finished, and comes again, gets none.
	const finished = history.spec.finishedStay ? before.finished : new Set();
	if (finished.size > 0) return false;
	const nodeIds = new Set(history.processes.map(({ nodeId }) => nodeId));
	return [...nodeIds].some(
		(nodeId) =>
			!before.seats.has(nodeId) &&
			recordsNear(nodeId, commit, history).some(
				(record) => record?.state === "ready",
			),
	);
}

/** A member has done its part, and could be seen to. */
function someoneFinished(
	commit: RoundCommit,
	before: RoundCommit,
	history: History,
): boolean {
	return [...before.seats].some(([nodeId, { incarnation, round }]) =>
		recordsNear(nodeId, commit, history).every(
			(record) =>
				record?.state === "finished" &&
				record.incarnation === incarnation &&
				record.claim === round,
		),
	);
}
