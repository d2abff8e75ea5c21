import { type Checker, isSpent, lifts } from "../history.js";

/** The longest from a coordinator's look to what it writes, in milliseconds. */
const PLANNING_MS = 5_000;

/** A member that holds its lease, does not leave and is not refused is waited for until the settle time is over. */
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
			if (!left || lift.at >= left.at + spec.settleTimeoutMs) continue;
			for (const [nodeId, seat] of before.seats) {
				const node = lift.nodes.get(nodeId);
				const isMember =
					node?.incarnation === seat.incarnation && node.state !== "leaving";
				const process = history.processes.find(
					({ incarnation }) => incarnation === seat.incarnation,
				);
				const heldSince = process?.recordMade.at(-1) ?? lift.at;
				const isSeen = heldSince <= lift.at - PLANNING_MS;
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
