import type { NodeRecord } from "../../../src/rendezvous/records.js";
import {
	type Checker,
	type History,
	predecessor,
	type RoundCommit,
} from "../history.js";
import { SLOWEST_WAY_MS } from "../link.js";
import { isPrompt, recordsNear } from "../records-near.js";
import { hasGone } from "./why-left.js";

/**
 * A worker's wish for another round is settled before one begins: it is free where
 * a member has gone, or did not come in time, and is paid for where none has. A
 * failure that is reported meanwhile takes its place.
 */
export const wishes: Checker = {
	name: "wishes",
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
			for (const { failure, isWish = false } of accountedNow) {
				if (round.outcome !== null) continue;
				if (isWish && failure.id === round.cause.root?.id && !round.unpaid) {
					yield { at, what: `${failure.id}, a wish, was charged at once` };
				}
				if (!isWish && round.unpaid) {
					yield { at, what: `${failure.id} hides behind a wish` };
				}
			}
			const wish = before.round.unpaid;
			if (wish === undefined || round.unpaid !== undefined) continue;
			if (round.synced > before.round.synced) {
				yield { at, what: `round ${round.synced} begins on an open bill` };
			}
			const isSettled =
				round.accounted.length === before.round.accounted.length;
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
	const id = before.round.unpaid?.failure.id;
	const isFree = round.incidents < before.round.incidents;
	const stays = history.spec.finishedStay ? commit.finished : new Set();
	const members = [...before.seats]
		.filter(([nodeId]) => !stays.has(nodeId))
		.map(([nodeId, { incarnation }]) => ({
			nodeId,
			incarnation,
			said: recordsNear(nodeId, commit, history, 4 * SLOWEST_WAY_MS),
		}));
	const isIn = (record: NodeRecord | null) =>
		record?.state === "ready" && record.claim === round.synced + 1;
	const absent = members.filter(({ said, incarnation }) =>
		said.some((record) => hasGone(record, incarnation) || !isIn(record)),
	);
	if (isFree && absent.length === 0) {
		yield { at, what: `${id} was free though nobody had gone` };
	}
	const gone = members.filter(({ said, incarnation }) =>
		said.every((record) => hasGone(record, incarnation)),
	);
	const mustPay = round.outcome?.exitCode !== 3 && !isFree;
	if (mustPay && gone.length > 0) {
		const names = gone.map(({ nodeId }) => nodeId).join(", ");
		yield { at, what: `${id} was charged though ${names} had gone` };
	}
}

function failuresOf({ nodes }: RoundCommit) {
	return [...nodes.values()].flatMap(({ failure }) => failure ?? []);
}
