/** What may follow failures, the mildest first. */
export const RUNGS = ["soft", "hard", "replace-node", "fail-run"] as const;
export type Rung = (typeof RUNGS)[number];

/** The rung that followed the newest failure. */
export interface EscalationRung {
	/** Its position among the run's rungs, from 0. */
	readonly at: number;
	readonly rung: Rung;
	/** Why it is not the first: "soft brought no step forward". */
	readonly why?: string | undefined;
}

/** "soft,hard": the rungs of a run; words that are none are left out. */
export function parseRungs(text: string): readonly Rung[] {
	const named = text.split(",");
	return RUNGS.filter((rung) => named.includes(rung));
}
