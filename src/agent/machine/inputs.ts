import type { NoticeState, WorldChangeEvent } from "../../channel/events.js";
import type { Trace } from "../../evidence/parse-trace.js";
import type { Notice, NoticeOrigin } from "../../notices/notice.js";
import type { RuleCause } from "../../policies/rules/rule.js";
import type { SpawnProblem, WorkerExit } from "../../processes/index.js";
import type { RoundView } from "../../rendezvous/member/membership.js";
import type {
	RoundRecord,
	SeatRecord,
} from "../../rendezvous/records/records.js";
import type { WorkerError } from "../../report/run-report.js";

/** The inputs of an agent. */
export type AgentInput =
	| { readonly kind: "round-seen"; readonly view: RoundView }
	| {
			readonly kind: "worker-started";
			readonly localRank: number;
			readonly pid: number;
	  }
	| {
			readonly kind: "worker-exited";
			readonly localRank: number;
			readonly pid: number | null;
			readonly exit: WorkerExit;
			/** The exit code, 128 + n for a signal, and the exit in words. */
			readonly exitCode: number;
			readonly description: string;
			/** The likely meaning of the exit. */
			readonly hint: string | undefined;
			readonly error: WorkerError | undefined;
			/** The last lines of its stderr, if there is no error file. */
			readonly lastLines?: string | undefined;
			/** The exception that ended it, as far as it is known. */
			readonly trace?: Trace | undefined;
			/** Its last step in this round; undefined if it has made none. */
			readonly step?: number | undefined;
			readonly startedWarm?: boolean | undefined;
			/** Other processes of its group live on. */
			readonly groupRemains: boolean;
	  }
	| {
			readonly kind: "worker-not-started";
			readonly localRank: number;
			readonly problem: SpawnProblem;
	  }
	/** No process of the worker's group is left. */
	| { readonly kind: "worker-gone"; readonly localRank: number }
	/** The worker has said HELLO. */
	| { readonly kind: "worker-attached"; readonly localRank: number }
	/** The worker has received this event of its channel, and all before it. */
	| {
			readonly kind: "worker-acknowledged";
			readonly localRank: number;
			readonly event: number;
	  }
	/** The worker waits for a round later than this one; null: it no longer waits. */
	| {
			readonly kind: "worker-waits";
			readonly localRank: number;
			readonly round: number | null;
	  }
	/** The worker has left all earlier rounds and works in this one. */
	| {
			readonly kind: "worker-works";
			readonly localRank: number;
			readonly round: number;
	  }
	/** An event could not be written to the worker's channel. */
	| {
			readonly kind: "worker-not-told";
			readonly localRank: number;
			readonly problem: string;
	  }
	/** No worker of the round makes a step, and this one keeps the others from it; or it has not ended after its exception. */
	| {
			readonly kind: "worker-hung";
			readonly round: number;
			readonly localRank: number;
			readonly pid: number;
			/** "hung for 61 s at train.py:41 in load_batch". */
			readonly description: string;
			/** What the evidence on disk shows, in at most five lines; undefined if none was taken. */
			readonly evidence?: readonly string[];
			readonly hint?: string | undefined;
			readonly error?: WorkerError | undefined;
			/** Its uncaught exception. */
			readonly trace?: Trace;
			/** How long ago the last step was, or the exception, in milliseconds. */
			readonly stillMs: number;
			/** How long the worker has been up, in milliseconds; undefined: it is not known. */
			readonly uptimeMs?: number | undefined;
			/** Of its stderr; undefined if it was not redirected. */
			readonly lastLines?: string | undefined;
			/** This node is not known to be at fault: the worker stands for its round. */
			readonly isUnattributed?: boolean;
			/** The run fails, whatever budget is left. */
			readonly failsRun: boolean;
			/**
			 * Why, for rules. `slow`: it computes or reads, though it makes no step; `start`: it has not made its first one;
			 * `crash`: it has not ended after its exception.
			 */
			readonly cause?: RuleCause;
			/** Its last step in this round; undefined if it has made none. */
			readonly step?: number | undefined;
	  }
	/** The machine will go. */
	| { readonly kind: "noticed"; readonly notice: Notice }
	/** It will stay, as far as this origin knows. */
	| ({
			readonly kind: "notice-withdrawn";
			readonly reason: string;
	  } & NoticeOrigin)
	/** The worker has read that its machine goes. */
	| { readonly kind: "worker-noticed"; readonly localRank: number }
	/** The worker has saved what it wants to keep, and may be ended. */
	| { readonly kind: "worker-ready"; readonly localRank: number }
	| { readonly kind: "time-passed" }
	| {
			readonly kind: "stop-asked";
			readonly exitCode: number;
			readonly reason: string;
			/** Kill at once, without grace. */
			readonly immediately: boolean;
			/** What the workers get first; default: SIGTERM. */
			readonly signal?: NodeJS.Signals | undefined;
	  }
	| {
			readonly kind: "session-lost";
			readonly reason: string;
			/** When the workers must be dead, because others may then run without this agent. */
			readonly fenceAt: number;
	  };

/** What a source of notices says. */
export type NoticeInput = Extract<
	AgentInput,
	{ kind: "noticed" | "notice-withdrawn" }
>;

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
