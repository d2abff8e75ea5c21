import { type Checker, type History, predecessor } from "../history.js";
import { recordsNear } from "../records-near.js";
import { hasGone } from "./why-left.js";

/**
 * A worker's wish for another round is settled before one begins: it is free where
 * a member has gone, or did not come in time, and is paid for where none has.
 */
export const wishes: Checker = {
	name: "wishes",
	*check(history) {
		const { commits } = history;
		for (const [index, commit] of commits.entries()) {
			const before = predecessor(history, index);
			const { at, round } = commit;
			if (round.unpaid && round.deprecated < round.synced) {
				yield { at, what: `round ${round.synced} runs on an open bill` };
			}
			const wish = before?.round.unpaid;
			if (before === undefined || wish === undefined) continue;
			if (round.unpaid !== undefined || round.outcome?.exitCode === 3) continue;
			if (round.accounted.length > before.round.accounted.length) continue;
			const isFree = round.incidents < before.round.incidents;
			const gone = [...before.seats.keys()].filter((nodeId) =>
				isAbsent(nodeId, index, history),
			);
			const certainly = gone.filter((nodeId) =>
				recordsNear(nodeId, commit, history).every((record) => record === null),
			);
			if (isFree && gone.length === 0) {
				yield {
					at,
					what: `${wish.failure.id} was free though nobody had gone`,
				};
			}
			if (!isFree && certainly.length > 0) {
				yield {
					at,
					what: `${wish.failure.id} was charged though ${certainly.join(", ")} had gone`,
				};
			}
		}
	},
};

/** Whether a member could be seen to have gone, or not to be ready. */
function isAbsent(nodeId: string, index: number, history: History): boolean {
	const commit = history.commits[index];
	const seat = commit?.seats.get(nodeId);
	if (commit === undefined || seat === undefined) return false;
	const isDone = history.spec.finishedStay && commit.finished.has(nodeId);
	if (isDone) return false;
	return recordsNear(nodeId, commit, history).some(
		(record) =>
			hasGone(record, seat.incarnation) ||
			record?.state !== "ready" ||
			record.claim !== commit.round.synced + 1,
	);
}
