import { type Checker, lifts, type RoundCommit } from "../history.js";
import { stintsOf } from "../worker-history.js";

/** One (instance, round) means one plan, with ranks from 0 on without a gap, and every worker lives by it. */
export const samePlan: Checker = {
	name: "same-plan",
	*check(history) {
		const plans = new Map<string, RoundCommit>();
		for (const lift of lifts(history)) {
			plans.set(nameOf(lift.round.instance, lift.round.synced), lift);
			yield* ranksOf(lift);
		}
		const ranks = new Map<string, Set<number>>();
		for (const stint of stintsOf(history.workers)) {
			const { worker, from: at } = stint;
			const name = nameOf(stint.instance, stint.round);
			const lift = plans.get(name);
			const seat = lift?.seats.get(worker.process.nodeId);
			const world = lift?.round.world;
			const who = `worker ${worker.pid} of ${worker.process.incarnation}`;
			if (lift === undefined || seat === undefined || !world) {
				yield { at, what: `${who} works in ${name} without a seat` };
				continue;
			}
			const isSeated =
				seat.incarnation === worker.process.incarnation &&
				seat.firstRank + worker.localRank === stint.rank &&
				seat.groupRank === stint.groupRank &&
				seat.firstRoleRank + worker.localRank === stint.roleRank &&
				world.roleWorldSizes[seat.role] === stint.roleWorldSize &&
				world.worldSize === stint.worldSize &&
				world.masterAddr === stint.masterAddr &&
				world.masterPort === stint.masterPort;
			if (!isSeated)
				yield { at, what: `${who} does not sit where ${name} says` };
			const taken = ranks.get(name) ?? new Set();
			if (taken.has(stint.rank)) {
				yield { at, what: `rank ${stint.rank} of ${name} was given twice` };
			}
			ranks.set(name, taken.add(stint.rank));
		}
	},
};

function nameOf(instance: number, round: number): string {
	return `round ${round} of instance ${instance}`;
}

function* ranksOf({ at, round, seats }: RoundCommit) {
	const ordered = [...seats.values()].sort(
		(left, right) => left.groupRank - right.groupRank,
	);
	const inRole = new Map<string, number>();
	let next = 0;
	for (const [index, seat] of ordered.entries()) {
		if (seat.groupRank !== index || seat.firstRank !== next) {
			yield { at, what: `the ranks of round ${round.synced} have a gap` };
		}
		if (seat.round !== round.synced) {
			yield { at, what: `a seat of round ${seat.round} in ${round.synced}` };
		}
		const before = inRole.get(seat.role) ?? 0;
		if (seat.firstRoleRank !== before) {
			yield { at, what: `the ranks of role ${seat.role} have a gap` };
		}
		inRole.set(seat.role, before + seat.localWorldSize);
		next += seat.localWorldSize;
	}
	for (const [role, size] of inRole) {
		if (round.world?.roleWorldSizes[role] !== size) {
			yield { at, what: `role ${role} has ${size} ranks, not as it is said` };
		}
	}
	if (round.world?.worldSize !== next || round.seats !== ordered.length) {
		yield { at, what: `round ${round.synced} does not count its own seats` };
	}
}
