import type { InstanceHistory } from "../rendezvous/describe/describe-history.js";
import type { RoundPhases } from "../rendezvous/describe/measure-history.js";

/** The facts about a round that are counted once. */
export interface CountedRound {
	readonly round: number;
	/** The end of the previous round. */
	readonly cause: string;
	/** The known steps, in seconds. */
	readonly phases: readonly (readonly [name: string, seconds: number])[];
}

const PHASE_NAMES: readonly (readonly [keyof RoundPhases, string])[] = [
	["noticeMs", "notice"],
	["stopMs", "stop"],
	["readyMs", "ready"],
	["barrierMs", "barrier"],
	["startMs", "start"],
];

/** The rounds to count: those after the given one that have begun to run, or are over. A round in preparation is counted later. */
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
