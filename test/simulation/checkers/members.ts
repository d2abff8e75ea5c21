import {
	type Checker,
	type History,
	lifts,
	type RoundCommit,
} from "../history.js";

/** Between MIN and MAX members a round, with those that stay finished; survivors come first and keep their order. */
export const members: Checker = {
	name: "members",
	*check(history) {
		const { minNodes, maxNodes, finishedStay = false } = history.spec;
		let before: RoundCommit | undefined;
		for (const lift of lifts(history)) {
			const { at, seats, round, finished } = lift;
			const stay = finishedStay ? finished.size : 0;
			if (seats.size + stay < minNodes || seats.size > maxNodes) {
				yield {
					at,
					what: `${seats.size} members and ${stay} that have finished, not ${minNodes} to ${maxNodes}`,
				};
			}
			if (before?.round.instance === round.instance) {
				const earlier = inOrder(before);
				const now = inOrder(lift);
				const replaced = replacedBetween(before.at, at, history);
				const survivors = earlier.filter(
					(name) => now.includes(name) && !replaced.has(name),
				);
				const first = now
					.filter((name) => !replaced.has(name))
					.slice(0, survivors.length);
				if (survivors.join() !== first.join()) {
					yield {
						at,
						what: `order ${earlier.join(" ")} became ${now.join(" ")}`,
					};
				}
			}
			before = lift;
		}
	},
};

/** Processes whose node was another process's for a time: they come back as newcomers. */
function replacedBetween(
	from: number,
	to: number,
	{ records, processes }: History,
): ReadonlySet<string> {
	const between = records.filter(({ at }) => at > from && at <= to);
	const replaced = processes.filter(({ nodeId, incarnation }) =>
		between.some(
			({ record }) =>
				record?.nodeId === nodeId && record.incarnation !== incarnation,
		),
	);
	return new Set(replaced.map(({ incarnation }) => incarnation));
}

function inOrder({ seats }: RoundCommit): readonly string[] {
	return [...seats.values()]
		.sort((left, right) => left.groupRank - right.groupRank)
		.map(({ incarnation }) => incarnation);
}
