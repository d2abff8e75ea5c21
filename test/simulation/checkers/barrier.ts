import { type Checker, lifts } from "../history.js";
import { stintsOf, worksAt } from "../worker-history.js";

/** No worker works before its round is synced, and no round is synced while a member's workers work in an older one. */
export const barrier: Checker = {
	name: "barrier",
	*check(history) {
		const stints = stintsOf(history.workers);
		const liftedAt = new Map<string, number>();
		for (const { at, round, seats, nodes } of lifts(history)) {
			liftedAt.set(`${round.instance}/${round.synced}`, at);
			const seated = new Set(
				[...seats.values()].map(({ incarnation }) => incarnation),
			);
			for (const [nodeId, { incarnation }] of seats) {
				const node = nodes.get(nodeId);
				if (node?.incarnation !== incarnation) continue;
				if (node.claim >= round.synced) continue;
				yield {
					at,
					what: `${incarnation} got a seat in round ${round.synced}, but claims ${node.claim}`,
				};
			}
			for (const stint of stints) {
				const { pid, process } = stint.worker;
				const isOlder = stint.round < round.synced && worksAt(stint, at);
				if (isOlder && seated.has(process.incarnation)) {
					yield {
						at,
						what: `round ${round.synced} began while worker ${pid} worked in round ${stint.round}`,
					};
				}
			}
		}
		for (const { instance, round, from: at, worker, roundWasLeft } of stints) {
			const { pid } = worker;
			if (roundWasLeft) {
				yield { at, what: `worker ${pid} works in a round seen to be left` };
			}
			const lifted = liftedAt.get(`${instance}/${round}`);
			if (lifted === undefined || lifted > at) {
				yield { at, what: `worker ${pid} works before its round was synced` };
			}
		}
	},
};
