import type { WorldChangeEvent } from "../channel/events.js";
import type { RoundView } from "../rendezvous/membership.js";
import type { RoundRecord, SeatRecord } from "../rendezvous/records.js";
import type { WorkerError } from "./report/run-report.js";
import type { SpawnProblem, WorkerExit } from "./supervision/worker.js";

/** What may happen to an agent. */
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
			/** What the exit probably means. */
			readonly hint: string | undefined;
			readonly error: WorkerError | undefined;
			/** Others of its process group live on. */
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
	| { readonly kind: "worker-greeted"; readonly localRank: number }
	/** The worker has received this event of its channel, and all before it. */
	| {
			readonly kind: "worker-acknowledged";
			readonly localRank: number;
			readonly event: number;
	  }
	/** The worker waits for a later round than this one; null: it waits no longer. */
	| {
			readonly kind: "worker-waits";
			readonly localRank: number;
			readonly round: number | null;
	  }
	/** The worker has left all earlier rounds, and works in this one. */
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
	| { readonly kind: "time-passed" }
	| {
			readonly kind: "stop-asked";
			readonly exitCode: number;
			readonly reason: string;
			/** Kill at once, without grace. */
			readonly immediately: boolean;
	  }
	| {
			readonly kind: "session-lost";
			readonly reason: string;
			/** When the workers must be dead, because others may then run without this agent. */
			readonly fenceAt: number;
	  };

/** What the shell has to do; everything else follows from the state. */
export type AgentEffect =
	/** A round begins: WORK to those that are kept, with the reason of their PAUSE; the others are started. */
	| {
			readonly kind: "start-workers";
			readonly round: RoundRecord;
			readonly seat: SeatRecord;
			readonly kept: ReadonlyMap<number, WorldChangeEvent>;
	  }
	/** PAUSE: the world of their round changes. */
	| {
			readonly kind: "pause";
			readonly localRanks: readonly number[];
			readonly change: WorldChangeEvent;
			readonly reason: string;
	  }
	| { readonly kind: "warn"; readonly message: string }
	| { readonly kind: "terminate"; readonly localRanks: readonly number[] }
	| { readonly kind: "kill"; readonly localRanks: readonly number[] };
