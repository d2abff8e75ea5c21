import { type Checker, lifts, type RoundCommit } from "../history.js";

/** Between MIN and MAX members a round; survivors come first and keep their order. */
export const members: Checker = {
	name: "members",
	*check(history) {
		const { minNodes, maxNodes } = history.spec;
		let before: RoundCommit | undefined;
		for (const lift of lifts(history)) {
			const { at, seats, round } = lift;
			if (seats.size < minNodes || seats.size > maxNodes) {
				yield {
					at,
					what: `${seats.size} members, not ${minNodes} to ${maxNodes}`,
				};
			}
			if (before?.round.instance === round.instance) {
				const earlier = inOrder(before);
				const now = inOrder(lift);
				const survivors = earlier.filter((name) => now.includes(name));
				const first = now.slice(0, survivors.length);
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

function inOrder({ seats }: RoundCommit): readonly string[] {
	return [...seats.values()]
		.sort((left, right) => left.groupRank - right.groupRank)
		.map(({ incarnation }) => incarnation);
}
