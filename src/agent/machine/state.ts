import type { RoundView } from "../../rendezvous/member/membership.js";
import type { FailureRecord } from "../../rendezvous/records/failure.js";
import type { Departure, NewIntent } from "../../rendezvous/records/intent.js";
import type {
	NodeFailure,
	SeatRecord,
} from "../../rendezvous/records/records.js";
import type { RunOutcome } from "../../report/run-report.js";
import type { Hold, PendingNotices } from "./pending-notices.js";
import type { WorkerSlot } from "./worker-slot.js";

/** What an agent does once its workers are gone. */
export type Next =
	| { readonly kind: "rejoin" }
	| {
			readonly kind: "leave";
			readonly exitCode: number;
			readonly reason: string;
			/** Its own failure that makes it leave, if any. */
			readonly root?: FailureRecord | null;
			/** Somebody asked it to leave. */
			readonly isAsked?: boolean | undefined;
			/** What follows: it is started again, or its node is replaced. */
			readonly departure?: Departure | undefined;
			/** It was asked after it had already left its round. */
			readonly isLate?: boolean | undefined;
			/** Its machine goes. */
			readonly isByNotice?: boolean | undefined;
			/** Set while workers that are not ready keep the time that is left to them. */
			readonly holds?: Hold | undefined;
			/** When it leaves even if the round was not left meanwhile; null until its workers are gone. */
			readonly leaveBy: number | null;
	  };

/** How the run ended for this agent. */
export interface Ending {
	readonly outcome: RunOutcome;
	readonly exitCode: number;
	readonly reason: string;
	readonly root: FailureRecord | null;
	/** The failures that came again and again and so ended it, each in one line. */
	readonly repeated?: readonly string[] | undefined;
}

interface Common {
	/** The newest view of the run; null before the first. */
	readonly view: RoundView | null;
	/** The instance that this process joined; null before the first view. */
	readonly instance: number | null;
	/** The last failure among this agent's workers. */
	readonly failure: NodeFailure | null;
	/** How many failures this process has reported. */
	readonly failuresReported: number;
	/** The last round that it left because its lease was unreliable; undefined if none. */
	readonly fencedIn?: number | undefined;
	/** Why this node's machine will go; undefined if it stays. */
	readonly notices?: PendingNotices | undefined;
}

/** What is left of the agent's last round. */
export interface Left extends Common {
	/** 0 if it was in none. */
	readonly round: number;
	/** Its seat there; null if it had none. */
	readonly seat: SeatRecord | null;
	readonly workers: readonly WorkerSlot[];
	/** Why it left that round before the others, in words; undefined if it did not. */
	readonly cause?: string | undefined;
}

/** In no round; its workers are gone, or paused. */
export interface Joining extends Left {
	readonly phase: "JOINING";
	/** The round that it claims; 0 before the first view. */
	readonly claim: number;
}

export interface Running extends Common {
	readonly phase: "RUNNING";
	readonly round: number;
	readonly seat: SeatRecord;
	readonly workers: readonly WorkerSlot[];
	/** The round that it claims while its workers run on, because another role restarts. */
	readonly runsOnTo?: number | undefined;
}

/** It ends workers, each with a deadline; paused ones stay. */
export interface Stopping extends Left {
	readonly phase: "STOPPING";
	/** The round that it claims next. */
	readonly claim: number;
	readonly next: Next;
	/** How long it may wait for workers that it has told to pause, in milliseconds; undefined if it does not. */
	readonly awaitsWorkersMs?: number | undefined;
	/** When workers that got another signal first get SIGTERM. */
	readonly termLater?:
		| { readonly at: number; readonly localRanks: readonly number[] }
		| undefined;
}

export interface Finished extends Common {
	readonly phase: "FINISHED";
	readonly round: number;
	readonly planId: string;
	/** Set if it was asked to leave: it does once the store has its record, at the latest by then. */
	readonly leave?: {
		readonly exitCode: number;
		readonly reason: string;
		readonly leaveBy: number;
		/** Its machine goes, and nobody asked it to leave. */
		readonly isByNotice?: boolean | undefined;
	};
}

export interface Closed extends Common {
	readonly phase: "CLOSED";
	readonly ending: Ending;
}

export type AgentState = Joining | Running | Stopping | Finished | Closed;

export const INITIAL_STATE: Joining = {
	phase: "JOINING",
	view: null,
	instance: null,
	failure: null,
	failuresReported: 0,
	round: 0,
	seat: null,
	workers: [],
	claim: 0,
};

/** Whether a round runs in which this agent has no part and claims none. */
export function isSpare({ view, round, claim }: Joining): boolean {
	const { synced = 0, deprecated = 0 } = view?.round ?? {};
	return synced > deprecated && claim > synced && round !== synced;
}

/** The content of the agent's record, without times; null: nothing yet, or nothing more. */
export function intentOf(state: AgentState): NewIntent | null {
	const { failure, fencedIn } = state;
	const base = {
		failure,
		fencedIn,
		cause: null,
		finishedPlan: null,
		pids: pidsOf(state),
		notice: state.notices?.[0].notice,
	};
	const said = "cause" in state ? { cause: state.cause ?? null } : {};
	switch (state.phase) {
		case "JOINING":
			return state.claim === 0
				? null
				: { ...base, ...said, state: "ready", claim: state.claim };
		case "RUNNING":
			return state.runsOnTo === undefined
				? { ...base, state: "running", claim: state.round }
				: { ...base, state: "ready", claim: state.runsOnTo, runsOn: true };
		case "STOPPING":
			return state.next.kind === "leave"
				? {
						...base,
						state: "leaving",
						claim: state.claim,
						cause: state.next.reason,
						isAsked: state.next.isAsked,
						departure: state.next.departure,
					}
				: {
						...base,
						...said,
						state: "stopping",
						claim: state.claim,
						awaitsWorkersMs: state.awaitsWorkersMs,
					};
		case "FINISHED":
			return {
				...base,
				state: "finished",
				claim: state.round,
				finishedPlan: state.planId,
			};
		case "CLOSED":
			return null;
		default:
			return state satisfies never;
	}
}

/** The claim that follows from a view: the first round that is neither running nor to be left. */
export function nextClaim(view: RoundView): number {
	return Math.max(view.round.synced, view.round.deprecated) + 1;
}

/** The pids of its workers, including paused ones. */
function pidsOf(state: AgentState): readonly (number | null)[] {
	if (!("workers" in state)) return [];
	const isThere = ({ status }: WorkerSlot) =>
		state.phase !== "JOINING" || status !== "gone";
	return state.workers.filter(isThere).map(({ pid }) => pid);
}
