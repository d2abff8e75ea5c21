import {
	type Checker,
	type History,
	isSpent,
	lifts,
	undisturbedFrom,
} from "../history.js";

/** The longest from a coordinator's look to what it writes, in milliseconds. */
const PLANNING_MS = 5_000;

/**
 * A member that holds its lease, does not leave and is not refused is waited for until the
 * settle time is over, and for as much longer as it says that it waits for its workers.
 */
export const settle: Checker = {
	name: "settle",
	*check(history) {
		const { commits, spec } = history;
		const lifted = lifts(history);
		for (const [index, lift] of lifted.entries()) {
			const before = lifted[index - 1];
			if (before?.round.instance !== lift.round.instance) continue;
			const left = commits.find(
				({ round }) =>
					round.instance === before.round.instance &&
					round.deprecated >= before.round.synced,
			);
			if (left === undefined) continue;
			for (const [nodeId, seat] of before.seats) {
				const node = lift.nodes.get(nodeId);
				const waitsMs = node?.awaitsWorkersMs ?? 0;
				if (lift.at >= left.at + spec.settleTimeoutMs + waitsMs) continue;
				const isMember =
					node?.incarnation === seat.incarnation && node.state !== "leaving";
				const heldSince = staysSince(history, seat.incarnation, lift.at);
				const isSeen = seenBy(history, lift.by, heldSince) <= lift.at;
				if (!isMember || !isSeen || isSpent(lift, nodeId, spec)) continue;
				const stays = spec.finishedStay && lift.finished.has(nodeId);
				if (lift.seats.has(nodeId) || stays) continue;
				yield {
					at: lift.at,
					what: `round ${lift.round.synced} did not wait for ${seat.incarnation}`,
				};
			}
		}
	},
};

/** Since when its record stands, and does not say that it leaves: a notice may have been withdrawn. */
function staysSince(history: History, incarnation: string, until: number) {
	const own = history.records.filter(
		({ at, record }) => at <= until && record?.incarnation === incarnation,
	);
	const left = own.findLastIndex(({ record }) => record?.state === "leaving");
	const made = processOf(history, incarnation)?.recordMade.at(-1) ?? until;
	return Math.max(made, left < 0 ? made : (own[left + 1]?.at ?? until));
}

/** By when what is in the store since then is in a coordinator's plans: a disturbance may hold up one that it has sent. */
function seenBy(history: History, coordinator: string, since: number): number {
	const process = processOf(history, coordinator);
	const from = process ? undisturbedFrom(process, since, PLANNING_MS) : since;
	return from + PLANNING_MS;
}

function processOf({ processes }: History, incarnation: string) {
	return processes.find((process) => process.incarnation === incarnation);
}
