import type { HistoryRecord } from "./history.js";
import type {
	BudgetRecord,
	NodeRecord,
	RoundRecord,
	Seat,
	SeatRecord,
} from "./records.js";
import type { Awaited } from "./waiting.js";

/** What the coordinator writes next; each is one transaction, but for the seats of a large lift. */
export type Plan =
	/** Leave a round, charge an incident, or end the run. */
	| {
			readonly kind: "update";
			readonly round: RoundRecord;
			readonly budgets: ReadonlyMap<string, BudgetRecord>;
			/** What the run's history has to say of it, if anything. */
			readonly story?: HistoryRecord | undefined;
	  }
	/** Write the seats, then the round that lifts the barrier, with what the incident before it cost. */
	| {
			readonly kind: "lift";
			readonly round: RoundRecord;
			readonly seats: ReadonlyMap<string, SeatRecord>;
			readonly budgets: ReadonlyMap<string, BudgetRecord>;
			readonly story?: HistoryRecord | undefined;
	  }
	/** Tell nodes that they may not take part any more. */
	| { readonly kind: "refuse"; readonly seats: ReadonlyMap<string, Seat> }
	/** Delete seats that belong to no current plan. What a node has finished stays known. */
	| { readonly kind: "sweep"; readonly nodeIds: readonly string[] };

/** A plan that changes where the run stands. */
export type RoundPlan = Extract<Plan, { readonly round: RoundRecord }>;

/** A time that belongs to one round: another round's is forgotten. */
export interface RoundDeadline {
	readonly round: number;
	readonly at: number;
}

/** What was seen of a round, and of the next one's members: see observe-round.ts. */
export interface RoundTimes {
	readonly round: number;
	/** When all members had been seen to run; null: not yet. */
	readonly startedAt: number | null;
	/** How many nodes are ready for the next round, and when the last of them was seen to be. */
	readonly ready: number;
	readonly readyAt: number | null;
}

/** The coordinator's deadlines. They live with it: a successor counts anew. */
export interface PlannerMemory {
	/** Until when members that hold their lease are waited for. */
	readonly settle: SettleDeadline | null;
	/** The round of whose members none held its lease, so that all are waited for; null: none such. */
	readonly outageOf: number | null;
	/**
	 * The round of whose failure it is known that nothing else was behind it: what
	 * befell others from then on came too late to be why. Null: none such.
	 */
	readonly ownFailureOf: number | null;
	/** Members that were seen to leave, by incarnation, as they said it last: for when their records are gone. */
	readonly leavers: ReadonlyMap<string, NodeRecord>;
	/** Until when newcomers are waited for. */
	readonly lastCall: RoundDeadline | null;
	/** Until when MIN is waited for. */
	readonly join: RoundDeadline | null;
	/** For the history. */
	readonly times: RoundTimes | null;
}

export const EMPTY_MEMORY: PlannerMemory = {
	settle: null,
	outageOf: null,
	ownFailureOf: null,
	leavers: new Map(),
	lastCall: null,
	join: null,
	times: null,
};

/** Until when the members of a round that was left are waited for. */
export interface SettleDeadline extends RoundDeadline {
	/** By how much it is later than by the settle time alone, in milliseconds. */
	readonly longerByMs: number;
}

/** The time at which is planned, in milliseconds. */
export interface PlannerTime {
	/** On the clock that the memory and `until` are on. */
	readonly now: number;
	/** Since 1970; it decides nothing. */
	readonly wallTime: number;
}

/** What the planner needs to know of the run's settings; times in milliseconds. */
export interface PlannerConfig {
	readonly minNodes: number;
	readonly maxNodes: number;
	readonly maxRestarts: number;
	/** Nodes that have finished stay so when a round is left: they count towards MIN and get no seat. */
	readonly finishedStay?: boolean;
	/** No other node can come: with the budget of the only one the run has spent its own. */
	readonly isAlone?: boolean;
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
	/** Given where a round would begin, were it not for these. */
	readonly awaited?: Awaited | undefined;
}

/** Nothing to write: what is waited for, and until when at the latest. */
export function wait(
	reason: string,
	memory: PlannerMemory,
	until?: number,
	awaited?: Awaited,
): PlanResult {
	return { plan: undefined, memory, until, reason, awaited };
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
