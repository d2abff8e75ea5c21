import type { SeatRecord } from "../../../src/rendezvous/records/records.js";
import {
	type Checker,
	type History,
	lifts,
	predecessor,
	type RoundCommit,
} from "../history.js";
import { isPrompt, recordsNear } from "../records-near.js";
import { hasGone } from "./why-left.js";

/**
 * The payer of a failure, or of a worker's wish for another round, is decided as the
 * next one begins: nobody where a member has gone or was cut off, or where its own
 * node was told to go; else the policy's budget. A failure that is reported meanwhile
 * takes a wish's place.
 */
export const settlement: Checker = {
	name: "settlement",
	*check(history) {
		for (const [index, commit] of history.commits.entries()) {
			const before = predecessor(history, index);
			if (before === undefined) continue;
			const { at, round } = commit;
			const accountedNow = failuresOf(commit).filter(
				({ failure }) =>
					round.accounted.includes(failure.id) &&
					!before.round.accounted.includes(failure.id),
			);
			for (const reported of accountedNow) {
				if (round.outcome !== null) continue;
				const { failure, isWish = false } = reported;
				const isRoot = failure.id === round.cause.root?.id;
				if (isRoot && reported.failsRun === null && !round.unpaid) {
					yield { at, what: `${failure.id} was charged at once` };
				}
				if (!isWish && round.unpaid?.isWish) {
					yield { at, what: `${failure.id} hides behind a wish` };
				}
			}
			const isLift = round.synced > before.round.synced;
			if (isLift && round.unpaid !== undefined) {
				yield { at, what: `round ${round.synced} begins on an open bill` };
			}
			if (before.round.unpaid === undefined || round.unpaid !== undefined) {
				continue;
			}
			const isSettled =
				isLift || round.accounted.length === before.round.accounted.length;
			if (!isSettled || !isPrompt(commit, history)) continue;
			yield* whetherRight(commit, before, history);
		}
	},
};

function* whetherRight(
	commit: RoundCommit,
	before: RoundCommit,
	history: History,
) {
	const { at, round } = commit;
	const { failure, isWish = false } = before.round.unpaid ?? {};
	const isFree = round.incidents < before.round.incidents;
	const others = (nodeId: string) => isWish || nodeId !== failure?.nodeId;
	const members = [...seatsOf(before, history)].map(([nodeId]) => ({
		nodeId,
		said: recordsNear(nodeId, commit, history),
	}));
	const mayBeFree = membersGone(commit, before, history).some(
		(nodeId) => others(nodeId) || isAsked(nodeId, commit, before, history),
	);
	if (isFree && !mayBeFree) {
		yield { at, what: `${failure?.id} was free though nobody had gone` };
	}
	const needed = members.filter(
		({ nodeId }) => others(nodeId) && !before.finished.has(nodeId),
	);
	// A plan that was begun for a new process of a node may have taken the old one's seat.
	const gone = needed.filter(({ said }) =>
		said.every((record) => record === null || record.state === "leaving"),
	);
	const isCharged = round.outcome?.exitCode !== 3 && !isFree;
	if (isCharged && gone.length > 0) {
		const names = gone.map(({ nodeId }) => nodeId).join(", ");
		yield { at, what: `${failure?.id} was charged though ${names} had gone` };
	}
}

/** Members that may have been seen to have gone, or to have been cut off. */
function membersGone(
	commit: RoundCommit,
	before: RoundCommit,
	history: History,
): readonly string[] {
	const { synced } = before.round;
	return [...seatsOf(before, history)].flatMap(([nodeId, { incarnation }]) =>
		recordsNear(nodeId, commit, history).some(
			(record) => hasGone(record, incarnation) || record?.fencedIn === synced,
		)
			? [nodeId]
			: [],
	);
}

/** Whether a member may have been seen to leave because it was told to: that is remembered. */
function isAsked(
	nodeId: string,
	{ at }: RoundCommit,
	before: RoundCommit,
	history: History,
): boolean {
	const { incarnation } = seatsOf(before, history).get(nodeId) ?? {};
	return history.records.some(
		({ at: since, record }) =>
			since <= at &&
			record?.incarnation === incarnation &&
			record?.isAsked === true,
	);
}

/** Of the round that stands: a plan that was begun for the next one may have taken some of its seats. */
function seatsOf({ at }: RoundCommit, history: History) {
	const lift = lifts(history).findLast((lifted) => lifted.at <= at);
	return lift?.seats ?? new Map<string, SeatRecord>();
}

function failuresOf({ nodes }: RoundCommit) {
	return [...nodes.values()].flatMap(({ failure }) => failure ?? []);
}
