/*
 * The ranks that keep a round from its next step, as one pure function of the
 * evidence of all its nodes. The first rule that names somebody decides.
 *
 *   evidence                                         | suspects            | kind
 *   -------------------------------------------------|---------------------|----------
 *   SIGSTOP or a debugger holds a rank               | that rank           | stopped
 *   a rank is in kernel state D                      | that rank           | hung
 *   some ranks of a group have entered its oldest    | the ranks that have | hung
 *     unfinished collective, and others have not     | not entered it      |
 *   all are inside, with other operations, sizes or  | the smaller part    | mismatch
 *     types                                          |                     |
 *   all are inside, or no rank has a recorder, and   | the ranks that do   | hung
 *     some wait in a collective and others do not    | not wait for others |
 *   stacks differ                                    | the smaller part    | hung
 *   there is one rank                                | that rank           | hung
 *   anything else                                    | nobody              | hung
 *
 * A hung suspect whose processor time or input grows is slow instead. Two
 * parts of one size point to nobody: a guess is not presented as knowledge.
 */

import type { RankEvidence, Suspect, Verdict } from "./evidence.js";
import { oldestUnfinished, quote } from "./unfinished.js";

/** Functions in which a rank waits for other ranks. */
const WAITING =
	/all_?reduce|all_?gather|all_?to_?all|reduce_?scatter|broadcast|barrier|\brecv\b|\bgather\b|\bscatter\b|_wait_for_|waitForWork|wait_for_work/i;
const COMMUNICATION = /torch[/\\](distributed|nn[/\\]parallel)|mpi4py|horovod/;

type Accusation = Pick<Verdict, "kind" | "reason"> & {
	readonly ranks: readonly RankEvidence[];
	readonly why: (rank: RankEvidence) => string;
};

/** @param evidence of every rank that a node has told of */
export function blame(evidence: readonly RankEvidence[]): Verdict {
	const ranks = [...evidence].sort((left, right) => left.rank - right.rank);
	const accusation =
		stopped(ranks) ??
		blocked(ranks) ??
		notEntered(ranks) ??
		mismatch(ranks) ??
		notWaiting(ranks) ??
		otherStack(ranks) ??
		alone(ranks);
	if (accusation === undefined) return nobody(ranks);
	const accused = new Set(accusation.ranks);
	const suspects = accusation.ranks.map((one) => asSuspect(one, accusation));
	const isSlow =
		accusation.kind === "hung" &&
		accusation.ranks.every(({ activity }) => activity === "busy");
	return {
		kind: isSlow ? "slow" : accusation.kind,
		suspects,
		waiting: ranks.filter((one) => !accused.has(one)).map(({ rank }) => rank),
		reason: accusation.reason,
	};
}

function asSuspect(one: RankEvidence, { why }: Accusation): Suspect {
	const { rank, nodeId: node, where = null, activity } = one;
	const doing = activity === "busy" ? "; it computes or reads" : "";
	return { rank, node, why: `${why(one)}${doing}`, where };
}

function nobody(ranks: readonly RankEvidence[]): Verdict {
	const isSlow =
		ranks.length > 0 && ranks.every(({ activity }) => activity === "busy");
	return {
		kind: isSlow ? "slow" : "hung",
		suspects: [],
		waiting: ranks.map(({ rank }) => rank),
		reason: "no suspect: nothing that is known tells one rank from the others",
	};
}

function stopped(ranks: readonly RankEvidence[]): Accusation | undefined {
	const held = ranks.filter(({ activity }) => activity === "stopped");
	return some(held, {
		kind: "stopped",
		reason: "a signal or a debugger has stopped it",
		why: () => "stopped by SIGSTOP or a debugger (kernel state T)",
	});
}

function blocked(ranks: readonly RankEvidence[]): Accusation | undefined {
	const stuck = ranks.filter(({ activity }) => activity === "blocked");
	return some(stuck, {
		kind: "hung",
		reason: "the kernel waits for a device or a file system",
		why: ({ waitChannel = "unknown" }) =>
			`in kernel state D, which no signal ends (it waits in ${waitChannel})`,
	});
}

function notEntered(ranks: readonly RankEvidence[]): Accusation | undefined {
	const oldest = oldestUnfinished(ranks);
	if (oldest === undefined) return undefined;
	const { outside, collective } = oldest;
	return some(outside, {
		kind: "hung",
		reason: `the others wait in ${quote(collective)}`,
		why: ({ groups, activity }) => {
			if (activity === "gone") {
				return `it has ended, and the others wait in ${quote(collective)}`;
			}
			return groups.length === 0
				? `its recorder does not answer, and the others wait in ${quote(collective)}`
				: `it has not entered ${quote(collective)}, in which the others wait`;
		},
	});
}

function mismatch(ranks: readonly RankEvidence[]): Accusation | undefined {
	const oldest = oldestUnfinished(ranks);
	if (oldest === undefined) return undefined;
	const parts = partsOf(oldest.inside, ({ collective }) => quote(collective));
	const [first, second] = parts;
	if (first === undefined || second === undefined) return undefined;
	const words = parts.map(([what]) => what).join("; others in ");
	const isTie = second[1].length === first[1].length;
	const fewest = isTie ? [] : second[1].map(({ evidence }) => evidence);
	return {
		kind: "mismatch",
		reason: `ranks called different collectives: some are in ${words}`,
		ranks: fewest,
		why: () => `it is in ${second[0]}, others in ${first[0]}`,
	};
}

/** Whether its stack shows that it waits for other ranks; undefined without a stack. */
function waits({ frames }: RankEvidence): boolean | undefined {
	if (frames.length === 0) return undefined;
	return frames.some(
		({ file, function: name }) =>
			WAITING.test(name) || COMMUNICATION.test(file),
	);
}

function notWaiting(ranks: readonly RankEvidence[]): Accusation | undefined {
	if (!ranks.some((one) => waits(one) === true)) return undefined;
	return some(
		ranks.filter((one) => waits(one) === false),
		{
			kind: "hung",
			reason: "the others wait for it in a collective, by their stacks",
			why: () => "by its stack it waits for no other rank, and others do",
		},
	);
}

/** Part by the innermost frames: equal programs at the same place have the same. */
function otherStack(ranks: readonly RankEvidence[]): Accusation | undefined {
	const known = ranks.filter(({ activity }) => activity !== "gone");
	const parts = partsOf(known, ({ frames }) =>
		frames
			.slice(0, 5)
			.map(({ file, line }) => `${file}:${line}`)
			.join(" "),
	);
	const [most, fewest] = [parts.at(0), parts.at(-1)];
	if (parts.length < 2 || most === undefined || fewest === undefined) {
		return undefined;
	}
	if (fewest[1].length >= most[1].length || fewest[0] === "") return undefined;
	return some(fewest[1], {
		kind: "hung",
		reason: "its stack is another one than that of most ranks",
		why: () => "its stack is another one than that of most ranks",
	});
}

function alone(ranks: readonly RankEvidence[]): Accusation | undefined {
	return ranks.length === 1
		? some(ranks, {
				kind: "hung",
				reason: "it is the only rank",
				why: () => "it makes no step, and is the only rank",
			})
		: undefined;
}

/** Undefined if nobody, or everybody of several, would be accused. */
function some(
	ranks: readonly RankEvidence[],
	about: Omit<Accusation, "ranks">,
): Accusation | undefined {
	return ranks.length === 0 ? undefined : { ...about, ranks };
}

/** Parts with the same key, the largest first. */
function partsOf<Item>(
	items: readonly Item[],
	keyOf: (item: Item) => string,
): readonly (readonly [string, readonly Item[]])[] {
	const parts = new Map<string, Item[]>();
	for (const item of items) {
		const key = keyOf(item);
		parts.set(key, [...(parts.get(key) ?? []), item]);
	}
	return [...parts].sort(([, left], [, right]) => right.length - left.length);
}
