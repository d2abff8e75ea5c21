import type { BudgetRecord, RoundRecord, Seat, SeatRecord } from "./records.js";

/** What the coordinator writes next; each is one transaction, but for the seats of a large lift. */
export type Plan =
	/** Leave a round, charge an incident, or end the run. */
	| {
			readonly kind: "update";
			readonly round: RoundRecord;
			readonly budgets: ReadonlyMap<string, BudgetRecord>;
	  }
	/** Write the seats, then the round that lifts the barrier. */
	| {
			readonly kind: "lift";
			readonly round: RoundRecord;
			readonly seats: ReadonlyMap<string, SeatRecord>;
	  }
	/** Tell nodes that they may not take part any more. */
	| { readonly kind: "refuse"; readonly seats: ReadonlyMap<string, Seat> }
	/** Delete seats and finished records that belong to no current plan. */
	| { readonly kind: "sweep"; readonly nodeIds: readonly string[] };

/** A time that belongs to one round: another round's is forgotten. */
export interface RoundDeadline {
	readonly round: number;
	readonly at: number;
}

/** The coordinator's deadlines. They live with it: a successor counts anew. */
export interface PlannerMemory {
	/** Until when members that hold their lease are waited for. */
	readonly settle: RoundDeadline | null;
	/** The round of whose members none held its lease, so that all are waited for; null: none such. */
	readonly outageOf: number | null;
	/** Until when newcomers are waited for. */
	readonly lastCall: RoundDeadline | null;
	/** Until when MIN is waited for. */
	readonly join: RoundDeadline | null;
}

export const EMPTY_MEMORY: PlannerMemory = {
	settle: null,
	outageOf: null,
	lastCall: null,
	join: null,
};

/** What the planner needs to know of the run's settings; times in milliseconds. */
export interface PlannerConfig {
	readonly minNodes: number;
	readonly maxNodes: number;
	readonly maxRestarts: number;
	readonly joinTimeoutMs: number;
	readonly lastCallTimeoutMs: number;
	readonly settleTimeoutMs: number;
}

export interface PlanResult {
	/** What to write now; undefined: nothing. */
	readonly plan: Plan | undefined;
	readonly memory: PlannerMemory;
	/** When to plan again even if nothing changes; undefined: not before a change. */
	readonly until: number | undefined;
	/** Why, in words. */
	readonly reason: string;
}

/** Nothing to write: what is waited for, and until when at the latest. */
export function wait(
	reason: string,
	memory: PlannerMemory,
	until?: number,
): PlanResult {
	return { plan: undefined, memory, until, reason };
}

/** The deadline as it stands for this round, begun now if it was another's. */
export function deadlineFor(
	round: number,
	known: RoundDeadline | null,
	durationMs: number,
	now: number,
): RoundDeadline {
	return known?.round === round ? known : { round, at: now + durationMs };
}
