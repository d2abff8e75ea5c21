/** The rules of the table in blame.ts that read torch's record of collectives. */

import type { Collective, RankEvidence } from "../model/index.js";
import { type Accusation, partsOf, some, waits } from "./accusation.js";

/**
 * Those that a group waits for and that wait in no other group themselves. A recorder may be mute because it was asked too
 * early, or answers too late: its rank is not accused if it waits by its stack.
 */
export function notEntered(
	ranks: readonly RankEvidence[],
): Accusation | undefined {
	const groups = unfinishedGroups(ranks);
	const inside = new Set(groups.flatMap(insiders));
	/** The collective that waits for a rank. */
	const missing = new Map(
		groups.flatMap(({ outside, collective }) =>
			outside
				.filter((one) => !inside.has(one.rank) && !isMuteAndWaits(one))
				.map(({ rank }) => [rank, quote(collective)] as const),
		),
	);
	const [first] = missing.values();
	return some(
		ranks.filter(({ rank }) => missing.has(rank)),
		{
			kind: "hung",
			reason: `the others wait in ${first}`,
			why: ({ rank, groups: own, activity }) => {
				const collective = missing.get(rank);
				if (activity === "gone") {
					return `it has ended, and the others wait in ${collective}`;
				}
				return own.length === 0
					? `its flight recorder does not answer, and the others wait in ${collective}`
					: `it has not entered ${collective}, in which the others wait`;
			},
		},
	);
}

/** Ranks of one group that are in its same place with other operations, sizes or types. */
export function mismatch(
	ranks: readonly RankEvidence[],
): Accusation | undefined {
	const parts = unfinishedGroups(ranks)
		.map(({ inside }) => partsOf(inside, ({ collective }) => quote(collective)))
		.find(({ length }) => length > 1);
	const [first, second] = parts ?? [];
	if (parts === undefined || !first || !second) return undefined;
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

/** Each that is missing in one group waits in another one: no rank is to blame more than another. */
export function circle(ranks: readonly RankEvidence[]): Accusation | undefined {
	const waited = unfinishedGroups(ranks).filter(
		({ outside }) => outside.length > 0,
	);
	if (waited.length < 2) return undefined;
	const words = waited.map(({ collective }) => quote(collective));
	return {
		kind: "mismatch",
		reason: `no suspect: ranks wait for each other in several groups: some are in ${words.join("; others in ")}`,
		ranks: [],
		why: () => "",
	};
}

function isMuteAndWaits(one: RankEvidence): boolean {
	return one.groups.length === 0 && waits(one) === true;
}

function insiders({ inside }: Unfinished): readonly number[] {
	return inside.map(({ evidence }) => evidence.rank);
}

/** The oldest unfinished collective of a process group: who is inside, and who has not come. */
interface Unfinished {
	readonly collective: Collective;
	readonly inside: readonly {
		readonly evidence: RankEvidence;
		readonly collective: Collective;
	}[];
	readonly outside: readonly RankEvidence[];
}

/** By process group, in the order of their names' first sight; empty if no recorder shows an unfinished collective. */
function unfinishedGroups(
	ranks: readonly RankEvidence[],
): readonly Unfinished[] {
	const names = new Set(
		ranks.flatMap(({ groups }) => groups.map(({ group }) => group)),
	);
	return [...names].flatMap((name) => unfinishedIn(name, ranks) ?? []);
}

function unfinishedIn(
	name: string,
	ranks: readonly RankEvidence[],
): Unfinished | undefined {
	const placeIn = (one: RankEvidence) =>
		one.groups.find(({ group }) => group === name);
	const inside = ranks.flatMap((evidence) => {
		const collective = placeIn(evidence)?.unfinished;
		return collective === undefined ? [] : [{ evidence, collective }];
	});
	const sequences = inside.map(({ collective }) => collective.sequence);
	const oldest = Math.min(...sequences);
	const first = inside.find(({ collective }) => collective.sequence === oldest);
	if (first === undefined) return undefined;
	const members = ranks.flatMap((one) => placeIn(one)?.ranks ?? []);
	const isMember = ({ rank }: RankEvidence) =>
		members.length === 0 || members.includes(rank);
	return {
		collective: first.collective,
		inside: inside.filter(({ collective }) => collective.sequence === oldest),
		outside: ranks.filter(
			(one) => isMember(one) && (placeIn(one)?.entered ?? 0) < oldest,
		),
	};
}

export function quote({ operation, shape, sequence }: Collective): string {
	const what = shape === "" ? operation : `${operation} ${shape}`;
	return `${what} (collective ${sequence})`;
}
