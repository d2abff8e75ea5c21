import type { InstanceHistory } from "../../rendezvous/describe-history.js";
import type { RoundPhases } from "../../rendezvous/measure-history.js";

/** How a round came about, to be counted once. */
export interface CountedRound {
	readonly round: number;
	/** What ended the round before it. */
	readonly cause: string;
	/** The steps that are known, in seconds. */
	readonly phases: readonly (readonly [name: string, seconds: number])[];
}

const PHASE_NAMES: readonly (readonly [keyof RoundPhases, string])[] = [
	["stopMs", "stop"],
	["readyMs", "ready"],
	["barrierMs", "barrier"],
	["startMs", "start"],
];

/**
 * The rounds that are to be counted: those after this one that have begun to
 * run, or are over. A round in the making is counted later.
 */
export function countRounds(
	{ rounds }: InstanceHistory,
	after: number,
): readonly CountedRound[] {
	return rounds
		.filter(({ round, startedAt, endedAt }) => {
			const isComplete = startedAt !== null || endedAt !== null;
			return round > after && isComplete;
		})
		.map(({ round, cause, phases }) => ({
			round,
			cause: cause.kind,
			phases: PHASE_NAMES.flatMap(([field, name]) => {
				const ms = phases[field];
				return ms === null ? [] : [[name, ms / 1000] as const];
			}),
		}));
}
