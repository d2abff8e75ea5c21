import type { ReplacedRecord } from "../records/departure-records.js";
import type { HistoryRecord } from "../records/history-record.js";
import type {
	BudgetRecord,
	NodeRecord,
	RoundRecord,
	Seat,
	SeatRecord,
} from "../records/records.js";
import type { RunSpec } from "../records/run-spec.js";
import type { Awaited } from "../records/waiting-record.js";

/** The coordinator's next write: one transaction, except for the seats of a large lift. */
export type Plan =
	/** Leave a round, charge an incident, or end the run. */
	| {
			readonly kind: "update";
			readonly round: RoundRecord;
			readonly budgets: ReadonlyMap<string, BudgetRecord>;
			/** The entry for the run's history, if any. */
			readonly story?: HistoryRecord | undefined;
	  }
	/** Write the seats, then the round that lifts the barrier, with the charges of the incident before it. */
	| {
			readonly kind: "lift";
			readonly round: RoundRecord;
			readonly seats: ReadonlyMap<string, SeatRecord>;
			readonly budgets: ReadonlyMap<string, BudgetRecord>;
			/** Nodes that newcomers of the round have replaced. */
			readonly replaced: ReadonlyMap<string, ReplacedRecord>;
			readonly story?: HistoryRecord | undefined;
	  }
	/** Tell nodes that they may not take part any more. */
	| {
			readonly kind: "refuse";
			readonly seats: ReadonlyMap<string, Seat>;
			/** Those among them that must be replaced from now on. */
			readonly replaced: ReadonlyMap<string, ReplacedRecord>;
	  }
	/** Delete seats of no current plan. The record of a finished node stays. */
	| { readonly kind: "sweep"; readonly nodeIds: readonly string[] };

export type RoundPlan = Extract<Plan, { readonly round: RoundRecord }>;

/** One start of the run, and when it began on the coordinator's steady clock. */
export interface Life {
	readonly instance: number;
	readonly from: number;
}

/** A time that belongs to one round; ignored for any other. */
interface RoundDeadline {
	readonly round: number;
	readonly at: number;
}

/** Times seen of a round, and of the next one's members: see observe-round.ts. */
export interface RoundTimes {
	readonly round: number;
	/** When all members had been seen running; null if not yet. */
	readonly startedAt: number | null;
	/** How many nodes are ready for the next round, and when the last of them was first seen ready. */
	readonly ready: number;
	readonly readyAt: number | null;
}

/** The coordinator's deadlines. They are not stored: a successor starts counting again. */
export interface PlannerMemory {
	/** The end of the wait for members that hold their lease. */
	readonly settle: SettleDeadline | null;
	/** A round none of whose members held its lease, so that the coordinator waits for all of them; null if there is none. */
	readonly outageOf: number | null;
	/** When the running round has run for so long that the incident before it is over. */
	readonly trial: RoundDeadline | null;
	/** Members seen leaving, by incarnation, with their last record: for after their records are gone. */
	readonly leavers: ReadonlyMap<string, NodeRecord>;
	/** The end of the wait for newcomers. */
	readonly lastCall: RoundDeadline | null;
	/** The end of the wait for MIN. */
	readonly join: RoundDeadline | null;
	/** Until when members of the round may work on without the store, unknown to this planner. */
	readonly riders: RoundDeadline | null;
	/** For the history. */
	readonly times: RoundTimes | null;
	/** How long the run has lived: a successor reads it in the store. */
	readonly life: Life | null;
}

export const EMPTY_MEMORY: PlannerMemory = {
	settle: null,
	outageOf: null,
	trial: null,
	leavers: new Map(),
	lastCall: null,
	join: null,
	riders: null,
	times: null,
	life: null,
};

/** The end of the wait for the members of a round that was left. */
export interface SettleDeadline extends RoundDeadline {
	/** How much later it is than the settle time alone, in milliseconds. */
	readonly longerByMs: number;
}

/** The time of planning, in milliseconds. */
export interface PlannerTime {
	/** On the clock of the memory and of `until`. */
	readonly now: number;
	/** Since 1970; decides nothing. */
	readonly wallTime: number;
}

export interface RunTime extends PlannerTime {
	/**
	 * When the run started by the wall clock, which is the number of its start, and how long it has lived since by steady
	 * clocks. Its deadline and the windows of budgets count by it.
	 */
	readonly runTime: number;
}

/** The run's settings that the planner needs. */
export type PlannerConfig = Omit<RunSpec, "version" | "policy">;

export interface PlanResult {
	/** What to write now; undefined: nothing. */
	readonly plan: Plan | undefined;
	readonly memory: PlannerMemory;
	/** When to plan again even if nothing changes; undefined: only after a change. */
	readonly until: number | undefined;
	readonly reason: string;
	/** Another agent is to plan. */
	readonly handsOver?: true;
	/** Set if only these keep a round from beginning. */
	readonly awaited?: Awaited | undefined;
}

/** Nothing to write: says what the plan waits for, and until when at the latest. */
export function wait(
	reason: string,
	memory: PlannerMemory,
	until?: number,
	awaited?: Awaited,
): PlanResult {
	return { plan: undefined, memory, until, reason, awaited };
}

/** Changes the round now. */
export function update(
	round: RoundRecord,
	memory: PlannerMemory,
	reason = round.outcome?.reason ?? round.cause.reason,
	budgets: ReadonlyMap<string, BudgetRecord> = new Map(),
): PlanResult {
	return {
		plan: { kind: "update", round, budgets },
		memory,
		until: undefined,
		reason,
	};
}

/** The deadline of this round; it starts now if the given one is another round's. */
export function deadlineFor(
	round: number,
	known: RoundDeadline | null,
	durationMs: number,
	now: number,
): RoundDeadline {
	return known?.round === round ? known : { round, at: now + durationMs };
}
