import type { Collective, RankEvidence } from "../model/evidence.js";

/** The oldest unfinished collective of a process group: who is inside, and who has not come. */
export interface Unfinished {
	readonly collective: Collective;
	readonly inside: readonly {
		readonly evidence: RankEvidence;
		readonly collective: Collective;
	}[];
	readonly outside: readonly RankEvidence[];
}

/** By process group, in the order of their names' first sight; empty if no recorder shows an unfinished collective. */
export function unfinishedGroups(
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
