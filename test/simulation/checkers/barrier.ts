import { type Checker, lifts } from "../history.js";

/** No worker starts before its round is synced, and no round is synced while a member's older workers live. */
export const barrier: Checker = {
	name: "barrier",
	*check(history) {
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
			for (const worker of history.workers) {
				const lives =
					worker.startedAt <= at &&
					(worker.endedAt === null || worker.endedAt > at);
				const isOlder = (worker.rounds.at(-1) ?? 0) < round.synced;
				if (lives && isOlder && seated.has(worker.process.incarnation)) {
					yield {
						at,
						what: `round ${round.synced} began while worker ${worker.pid} of round ${worker.rounds.join(" ")} lived`,
					};
				}
			}
		}
		for (const worker of history.workers) {
			const { instance, rounds, startedAt: at, pid } = worker;
			if (worker.roundWasLeft) {
				yield { at, what: `worker ${pid} started in a round seen to be left` };
			}
			const lifted = liftedAt.get(`${instance}/${rounds[0]}`);
			if (lifted === undefined || lifted > at) {
				yield { at, what: `worker ${pid} started before its round was synced` };
			}
		}
	},
};
