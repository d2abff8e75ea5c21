import {
	type Hold,
	type PendingNotices,
	tooLateAt,
} from "../../notices/index.js";
import type {
	Departure,
	FailureRecord,
	NodeFailure,
	Outcome,
	RoundView,
	SeatRecord,
} from "../../rendezvous/index.js";
import type { RunOutcome } from "../../status/index.js";
import { attentionAt, isRemaining, type WorkerSlot } from "./worker.js";

export type Phase = "JOINING" | "RUNNING" | "STOPPING" | "FINISHED" | "CLOSED";

/** Why this node leaves the run. The first reason stays, but for that of a process which is to be started again. */
export interface Leaving {
	readonly exitCode: number;
	readonly reason: string;
	/** Its own failure that makes it leave, if any. */
	readonly root?: FailureRecord | null | undefined;
	/** Somebody asked it to leave. */
	readonly isAsked?: boolean | undefined;
	/** What follows: it is started again, or its node is replaced. */
	readonly departure?: Departure | undefined;
	/** It was asked after it had already left its round. */
	readonly isLate?: boolean | undefined;
	/** Its machine goes. */
	readonly isByNotice?: boolean | undefined;
	/** When it leaves even if the others do not know yet; null while workers must end. */
	readonly leaveBy: number | null;
}

/** How the run ended for this agent. */
export interface Ending {
	readonly outcome: RunOutcome;
	readonly exitCode: number;
	readonly reason: string;
	readonly root: FailureRecord | null;
	/** The failures that came again and again and so ended it, each in one line. */
	readonly repeated?: readonly string[] | undefined;
}

interface SecondSignal {
	readonly first: NodeJS.Signals;
	readonly at: number;
	readonly localRanks: readonly number[];
}

/** All that a node knows and has decided. */
export interface Facts {
	/** What the newest decision says. */
	readonly phase: Phase;
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
	/** The present or last round of its workers; 0 if it was in none. */
	readonly round: number;
	/** Its seat there; null if it had none. */
	readonly seat: SeatRecord | null;
	/** Of that round. None once all have succeeded. */
	readonly workers: readonly WorkerSlot[];
	/** The round that it claims between rounds; 0 before the first view. */
	readonly claim: number;
	/** The round that it claims while its workers run on, because another role restarts. */
	readonly runsOnTo?: number | undefined;
	/** Why it left its round before the others, in words; undefined if it did not. */
	readonly cause?: string | undefined;
	readonly leaving?: Leaving | undefined;
	/** Set while workers that are not ready keep the time that is left to them. */
	readonly holds?: Hold | undefined;
	/** How long it may wait for workers that were sent a PAUSE, in milliseconds; undefined if it does not. */
	readonly awaitsWorkersMs?: number | undefined;
	/** When workers that got another signal first get SIGTERM. */
	readonly secondSignal?: SecondSignal | undefined;
	/** The plan whose part it has done, once all its workers have succeeded. */
	readonly planId?: string | undefined;
	readonly ending?: Ending | undefined;
}

/** In no round; its workers are gone, or paused. */
export interface Joining extends Facts {
	readonly phase: "JOINING";
}

export interface Running extends Facts {
	readonly phase: "RUNNING";
	readonly seat: SeatRecord;
}

/** Workers end, each with a deadline, or leave their round. */
export interface Stopping extends Facts {
	readonly phase: "STOPPING";
}

/** All its workers have succeeded. */
export interface Finished extends Facts {
	readonly phase: "FINISHED";
	readonly planId: string;
}

export interface Closed extends Facts {
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

/** The agent's ending that follows from the run's outcome. */
export function endingOf(outcome: Outcome): Ending {
	return {
		outcome: outcome.result,
		exitCode: outcome.exitCode,
		reason: outcome.reason,
		root: outcome.root,
		repeated: outcome.repeated,
	};
}

/** This node leaves; the run may continue elsewhere. `root`: its own failure that made it leave, if any. */
export function leftWith(
	exitCode: number,
	reason: string,
	root: FailureRecord | null = null,
): Ending {
	return { outcome: "left", exitCode, reason, root };
}

/** The claim that follows from a view: the first round that is neither running nor to be left. */
export function nextClaim(view: RoundView): number {
	return Math.max(view.round.synced, view.round.deprecated) + 1;
}

/** Whether a round runs in which this agent has no part and claims none. */
export function isSpare({ view, round, claim }: Joining): boolean {
	const { synced = 0, deprecated = 0 } = view?.round ?? {};
	return synced > deprecated && claim > synced && round !== synced;
}

/** Whether a node that has left a round is still a member with others, as far as it knows. */
export function isMember({ view, round }: Facts): boolean {
	return view !== null && view.round.synced === round && view.round.seats > 1;
}

/** Its seat in the round that runs; undefined if it has none. */
export function seatOf({ view }: Facts): SeatRecord | undefined {
	if (!view?.seat || !("planId" in view.seat)) return undefined;
	const { seat, round } = view;
	const isValid = seat.planId === round.planId && seat.round === round.synced;
	return isValid ? seat : undefined;
}

/** Whether no worker is left that must end, or leave its round. */
export function isClear({ workers }: Facts): boolean {
	return !workers.some(isRemaining);
}

/** The worker's global rank, in its present or last round. */
export function rankOf({ seat }: Facts, localRank: number): number {
	return (seat?.firstRank ?? 0) + localRank;
}

/** When the agent must be woken even if nothing happens; undefined: never. */
export function deadlineOf(facts: Facts): number | undefined {
	const { workers, leaving, secondSignal } = facts;
	const deadline = Math.min(
		...workers.map(attentionAt),
		leaving?.leaveBy ?? Number.POSITIVE_INFINITY,
		secondSignal?.at ?? Number.POSITIVE_INFINITY,
		noticeDueAt(facts) ?? Number.POSITIVE_INFINITY,
	);
	return deadline === Number.POSITIVE_INFINITY ? undefined : deadline;
}

/** When a notice makes it leave, or ends the workers of a node that leaves. */
function noticeDueAt(facts: Facts): number | undefined {
	const { phase, notices, leaving, holds, view } = facts;
	if (notices === undefined) return undefined;
	if (leaving !== undefined) return holds?.until;
	const isOver = view !== null && view.round.outcome !== null;
	const isBetween = phase === "JOINING" || (phase === "STOPPING" && !isOver);
	return isBetween ? tooLateAt(notices) : notices[0].termAt;
}
