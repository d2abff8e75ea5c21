import {
	type Checker,
	type History,
	isWithin,
	lifts,
	type ProcessHistory,
	type RoundCommit,
} from "../history.js";

/**
 * What a member asks of the store from one round to the next at most, beside what
 * follows. Undisturbed it is a quarter of that; but watches that were reset, and
 * keys that somebody has deleted, cost looks.
 */
const A_ROUND = 24;
/** Who is told of nothing looks all the same, each time that so many milliseconds have passed. */
const LOOK_EVERY_MS = 5_000;
/** For each change of the round's key, or of who may coordinate: a look, perhaps hinted at twice. */
const A_CHANGE = 2;

/** A member of two rounds in turn asks the store for little between them, whatever the size of the job. */
export const fewRequests: Checker = {
	name: "few-requests",
	*check(history) {
		const lifted = lifts(history);
		for (const [index, lift] of lifted.entries()) {
			const before = lifted[index - 1];
			if (before?.round.instance !== lift.round.instance) continue;
			const allowed = allowedBetween(before, lift, history);
			for (const process of membersOf(before, lift, history)) {
				const calls = process.calls.filter(
					({ at }) => at > before.at && at <= lift.at,
				);
				if (calls.length <= allowed) continue;
				yield {
					at: lift.at,
					what: `${process.incarnation} asked ${calls.length} times of the store before round ${lift.round.synced}, ${allowed} are allowed`,
				};
			}
		}
	},
};

function allowedBetween(
	before: RoundCommit,
	lift: RoundCommit,
	{ commits, processes }: History,
): number {
	const elections = processes.flatMap(({ elected, recordGone }) => [
		...elected,
		...recordGone,
	]);
	const changes = [...elections, ...commits.map(({ at }) => at)].filter(
		(at) => at > before.at && at <= lift.at,
	).length;
	const looks = Math.ceil((lift.at - before.at) / LOOK_EVERY_MS);
	return A_ROUND + A_CHANGE * changes + looks;
}

/** Those that nothing disturbed, and that never coordinated: a coordinator looks at each change of a member's record. */
function membersOf(
	before: RoundCommit,
	{ seats, at }: RoundCommit,
	{ processes }: History,
): readonly ProcessHistory[] {
	return processes.filter((process) => {
		const { nodeId, incarnation, disturbed, frozen, elected } = process;
		const isMember = [before.seats, seats].every(
			(plan) => plan.get(nodeId)?.incarnation === incarnation,
		);
		const troubles = [...disturbed, ...frozen];
		const isQuiet = !isWithin(troubles, before.at - LOOK_EVERY_MS, at);
		return isMember && isQuiet && elected.length === 0;
	});
}
