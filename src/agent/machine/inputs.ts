import type { NoticeState, WorldChangeEvent } from "../../channel/index.js";
import type { Notice, NoticeOrigin } from "../../model/index.js";
import type { RestartPolicyStrategy, Rule } from "../../policies/index.js";
import type { SpawnProblem, WorkerExit } from "../../processes/index.js";
import type {
	RoundRecord,
	RoundView,
	SeatRecord,
} from "../../rendezvous/index.js";
import type { Described, WorkerExited } from "./worker.js";

/** What an agent's decisions depend on besides its state. All times are on one clock, in milliseconds. */
export interface TransitionContext {
	readonly now: number;
	/** Milliseconds since 1970, for reports. */
	readonly wallTime: number;
	readonly runId: string;
	readonly nodeId: string;
	readonly incarnation: string;
	readonly policy: RestartPolicyStrategy;
	readonly maxRestarts: number;
	/** Whether the run's budget has no restart left; absent: it has. */
	readonly isSpent?:
		| ((round: RoundRecord, wallTime: number) => boolean)
		| undefined;
	/** Asked before the policy. */
	readonly rules: readonly Rule[];
	/** This process starts workers for one round only. Then it ends, for its supervisor to start it again. */
	readonly isRecreated: boolean;
	readonly shutdownTimeoutMs: number;
	/** How long a worker may take to acknowledge PAUSE. */
	readonly pauseTimeoutMs: number;
	/** The role of this agent's workers. */
	readonly role?: string | undefined;
}

/** No worker of the round makes a step, and this one keeps the others from it; or it has not ended after its exception. */
export interface WorkerHung extends Described {
	readonly pid: number;
	readonly round: number;
	/** How long ago the last step was, or the exception, in milliseconds. */
	readonly stillMs: number;
	/** The run fails, whatever budget is left. */
	readonly failsRun: boolean;
}

export interface StopAsked {
	readonly exitCode: number;
	readonly reason: string;
	/** Kill at once, without grace. */
	readonly immediately: boolean;
	/** What the workers get first; default: SIGTERM. */
	readonly signal?: NodeJS.Signals | undefined;
}

export interface SessionLost {
	readonly reason: string;
	/** When workers that are not paused must be dead, because others may then run without this agent. */
	readonly fenceAt: number;
}

interface Said<Kind extends string> {
	readonly kind: Kind;
	readonly localRank: number;
}

/** What a worker that has not ended does. */
export type WorkerReply =
	| (Said<"worker-started"> & { readonly pid: number })
	/** It has said HELLO. */
	| Said<"worker-attached">
	/** It has received this event of its channel, and all before it. */
	| (Said<"worker-acknowledged"> & { readonly event: number })
	/** It waits for a round later than this one; null: it no longer waits. */
	| (Said<"worker-waits"> & { readonly round: number | null })
	/** It has left all earlier rounds and works in this one. */
	| (Said<"worker-works"> & { readonly round: number })
	/** It has read that its machine goes. */
	| Said<"worker-noticed">
	/** It has saved what it wants to keep, and may be ended. */
	| Said<"worker-ready">
	/** It ends, and waits for one that has ended: there is nothing that it could save. */
	| (Said<"worker-stuck"> & { readonly pid: number })
	/** No process of its group is left. */
	| Said<"worker-gone">;

/** An event could not be written to the worker's channel. */
export type NotNotified = Said<"worker-not-told"> & {
	readonly problem: string;
};

/** What a source of notices says. */
export type NoticeInput =
	/** The machine will go. */
	| { readonly kind: "noticed"; readonly notice: Notice }
	/** It will stay, as far as this origin knows. */
	| ({
			readonly kind: "notice-withdrawn";
			readonly reason: string;
	  } & NoticeOrigin);

export type AgentInput =
	| { readonly kind: "round-seen"; readonly view: RoundView }
	| { readonly kind: "time-passed" }
	| ({ readonly kind: "stop-asked" } & StopAsked)
	| ({ readonly kind: "session-lost" } & SessionLost)
	| ({ readonly kind: "worker-exited" } & WorkerExited)
	| (Said<"worker-not-started"> & { readonly problem: SpawnProblem })
	| NotNotified
	| ({ readonly kind: "worker-hung" } & WorkerHung)
	| WorkerReply
	| NoticeInput;

/** A worker's failure, as far as the agent's shell can describe it. */
export interface Failure extends Described {
	readonly exitCode: number;
	/** Undefined if its process has not ended. */
	readonly exit?: WorkerExit;
	/** The run's exit code, if a retry cannot help. */
	readonly failsRun?: number | undefined;
	/** This node cannot start workers; another one may. */
	readonly isOfNode?: boolean;
	/** Nothing has failed: the worker waits for another round. */
	readonly isWish?: boolean;
	/** How long it has waited or failed unnoticed, in milliseconds. */
	readonly unseenMs?: number;
	/** Its process has not ended. */
	readonly isGivenUp?: boolean;
}

/** What an input has brought that the table must answer. */
export type Matter =
	/** A change of a worker or the machine; a view of the run; a deadline that may be due; workers that may be ready to end. */
	| { readonly kind: "news" | "seen" | "due" | "saved" }
	| { readonly kind: "noticed" }
	| ({ readonly kind: "stop-asked" } & StopAsked)
	| ({ readonly kind: "session-lost" } & SessionLost)
	/** A death whose reason may follow; the end of a worker whose machine goes; the end of all notices. */
	| {
			readonly kind: "unexplained" | "ended" | "stays";
			readonly why: string;
	  }
	/** What a worker that ended with 0 has left behind. */
	| { readonly kind: "left-behind"; readonly localRank: number }
	/** A worker that ended with 0 at its PAUSE, when the next round ran; one that cannot be kept for the next round. */
	| {
			readonly kind: "ended-late" | "not-kept";
			readonly localRank: number;
			readonly why: string;
			readonly killAt?: number | undefined;
	  }
	| {
			readonly kind: "failed";
			readonly failure: Failure;
			/** It does not hear SIGTERM. */
			readonly isHung?: boolean;
	  };

/** The effects for the shell; everything else follows from the state. */
export type AgentEffect =
	/** A round begins: kept workers get WORK, with the reason of their PAUSE; the others are started. */
	| {
			readonly kind: "start-workers";
			readonly round: RoundRecord;
			readonly seat: SeatRecord;
			readonly kept: ReadonlyMap<number, WorldChangeEvent>;
			/** Local ranks whose work is done: nothing is started there. */
			readonly ended?: readonly number[];
	  }
	/** PAUSE: the world of the workers' round changes. */
	| {
			readonly kind: "pause";
			readonly localRanks: readonly number[];
			readonly change: WorldChangeEvent;
			readonly reason: string;
	  }
	/** NOTICE: their machine will go, or with the source null, stays. */
	| ({
			readonly kind: "tell-notice";
			readonly localRanks: readonly number[];
			/** They had no notice before, and do not start only now. */
			readonly isFirst: boolean;
	  } & Omit<NoticeState, "sequence">)
	| { readonly kind: "warn"; readonly message: string }
	| {
			readonly kind: "terminate";
			readonly localRanks: readonly number[];
			/** Default: SIGTERM. */
			readonly signal?: NodeJS.Signals;
	  }
	| { readonly kind: "kill"; readonly localRanks: readonly number[] };
