import { type Checker, lifts, type RoundCommit } from "../history.js";

/** A run has no more rounds than what happened to it explains. */
export const fewRounds: Checker = {
	name: "few-rounds",
	*check(history) {
		const lifted = lifts(history);
		const instances = new Set(lifted.map(({ round }) => round.instance));
		for (const instance of instances) {
			const rounds = lifted.filter(({ round }) => round.instance === instance);
			const last = rounds.at(-1);
			if (last === undefined) continue;
			const changes = history.processes.reduce(
				(sum, process) =>
					sum +
					1 +
					(process.endedAt === null ? 0 : 1) +
					process.recordGone.length +
					process.lossesTold.length,
				0,
			);
			const allowed = changes + last.round.incidents + tooLate(rounds) + 1;
			if (rounds.length > allowed) {
				yield {
					at: last.at,
					what: `${rounds.length} rounds, but only ${changes} changes and ${last.round.incidents} incidents`,
				};
			}
		}
	},
};

/** Members that lived but were not ready in time: the round went on without them, and they come back. */
function tooLate(rounds: readonly RoundCommit[]): number {
	let count = 0;
	for (const [index, { seats, nodes }] of rounds.entries()) {
		for (const [nodeId, seat] of rounds[index - 1]?.seats ?? []) {
			const lives = nodes.get(nodeId)?.incarnation === seat.incarnation;
			if (lives && !seats.has(nodeId)) count += 1;
		}
	}
	return count;
}
