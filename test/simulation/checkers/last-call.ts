import type { NodeRecord } from "../../../src/rendezvous/records/records.js";
import { type Checker, type History, predecessor } from "../history.js";

/** For so short a time nobody may have waited without a coordinator's having seen it, in milliseconds. */
const UNSEEN_MS = 3_000;

/** Newcomers are gathered for the whole last call, but where there is no seat for more of them. */
export const lastCall: Checker = {
	name: "last-call",
	*check(history) {
		const { commits, spec } = history;
		for (const [index, commit] of commits.entries()) {
			const { at, round } = commit;
			const before = predecessor(history, index);
			if (before === undefined || round.cause.kind !== "scale-up") continue;
			if (round.deprecated === before.round.deprecated) continue;
			const isWaiting = (record: NodeRecord) =>
				record.state === "ready" &&
				!before.seats.has(record.nodeId) &&
				!(spec.finishedStay && commit.finished.has(record.nodeId));
			const { since, most } = waitedUntil(history, at, isWaiting);
			if (before.seats.size + most >= spec.maxNodes) continue;
			if (at - since >= spec.lastCallTimeoutMs) continue;
			yield {
				at,
				what: `round ${round.synced} was left after a last call of ${Math.round(at - since)} ms`,
			};
		}
	},
};

/**
 * Since when, until the given time, there was always somebody who waited, and how many
 * did at most within the time that a coordinator may be late by.
 */
function waitedUntil(
	{ records }: History,
	until: number,
	isWaiting: (record: NodeRecord) => boolean,
): { readonly since: number; readonly most: number } {
	const waiting = new Set<string>();
	let since = until;
	let most = 0;
	let emptySince = Number.NEGATIVE_INFINITY;
	for (const { at, nodeId, record } of records) {
		if (at > until) break;
		const wasEmpty = waiting.size === 0;
		if (at > until - UNSEEN_MS) most = Math.max(most, waiting.size);
		if (record !== null && isWaiting(record)) waiting.add(nodeId);
		else waiting.delete(nodeId);
		if (wasEmpty && waiting.size > 0 && at - emptySince > UNSEEN_MS) since = at;
		if (!wasEmpty && waiting.size === 0) emptySince = at;
	}
	return { since, most: Math.max(most, waiting.size) };
}
