import type { FailureRecord } from "../rendezvous/failure.js";
import type { RoundView } from "../rendezvous/membership.js";
import type { Intent } from "../rendezvous/record-writer.js";
import type {
	NodeFailure,
	RoundRecord,
	SeatRecord,
} from "../rendezvous/records.js";
import type { RunOutcome, WorkerError } from "./report/run-report.js";
import type { SpawnProblem, WorkerExit } from "./supervision/worker.js";

/** One worker process of the round that this agent is in or is leaving. */
export interface WorkerSlot {
	readonly localRank: number;
	/** Null until it was spawned. */
	readonly pid: number | null;
	/** `exited`: its leader ended, others of its process group live on. */
	readonly status: "running" | "exited" | "gone";
	/** When what is left of its group is killed; null where nothing has been told to end. */
	readonly killAt: number | null;
	/** When what even SIGKILL has not ended is given up; absent before that kill. */
	readonly goneBy?: number;
}

/** What an agent does when its workers are gone. */
export type Next =
	| { readonly kind: "rejoin" }
	| {
			readonly kind: "leave";
			readonly exitCode: number;
			readonly reason: string;
			/** When it goes even if the round was not left meanwhile; null until its workers are gone. */
			readonly leaveBy: number | null;
	  };

/** How the run ended for this agent. */
export interface Ending {
	readonly outcome: RunOutcome;
	readonly exitCode: number;
	readonly reason: string;
	readonly root: FailureRecord | null;
}

interface Common {
	/** The newest picture of the run; null before the first. */
	readonly view: RoundView | null;
	/** The instance that this process belongs to; null before the first view. */
	readonly instance: number | null;
	/** The last failure among this agent's workers. */
	readonly failure: NodeFailure | null;
	/** How many failures this process has reported. */
	readonly failuresReported: number;
}

export interface Joining extends Common {
	readonly phase: "JOINING";
	/** The round that is wanted; 0 before the first view. */
	readonly claim: number;
}

export interface Running extends Common {
	readonly phase: "RUNNING";
	readonly round: number;
	readonly seat: SeatRecord;
	readonly workers: readonly WorkerSlot[];
}

export interface Stopping extends Common {
	readonly phase: "STOPPING";
	/** The round that is being left; 0 where it was in none. */
	readonly round: number;
	/** The round that is wanted next. */
	readonly claim: number;
	readonly workers: readonly WorkerSlot[];
	/** When the workers are killed; null once they were. */
	readonly killAt: number | null;
	/** When a process that even SIGKILL did not end is given up; null before the kill. */
	readonly goneBy: number | null;
	readonly next: Next;
}

export interface Finished extends Common {
	readonly phase: "FINISHED";
	readonly round: number;
	readonly planId: string;
}

export interface Closed extends Common {
	readonly phase: "CLOSED";
	readonly ending: Ending;
}

export type AgentState = Joining | Running | Stopping | Finished | Closed;

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
	| {
			readonly kind: "start-workers";
			readonly round: RoundRecord;
			readonly seat: SeatRecord;
	  }
	| { readonly kind: "terminate"; readonly localRanks: readonly number[] }
	| { readonly kind: "kill"; readonly localRanks: readonly number[] };

export const INITIAL_STATE: Joining = {
	phase: "JOINING",
	view: null,
	instance: null,
	failure: null,
	failuresReported: 0,
	claim: 0,
};

/** When the agent has to be woken even if nothing happens; undefined: never. */
export function deadlineOf(state: AgentState): number | undefined {
	const deadlines: (number | null)[] = [];
	if (state.phase === "STOPPING") {
		deadlines.push(state.killAt, state.goneBy);
		if (state.next.kind === "leave") deadlines.push(state.next.leaveBy);
	}
	if (state.phase === "RUNNING") {
		for (const { killAt, goneBy = null } of state.workers) {
			deadlines.push(killAt, goneBy);
		}
	}
	const set = deadlines.filter((deadline) => deadline !== null);
	return set.length === 0 ? undefined : Math.min(...set);
}

/** What the agent's record should say, but for the time; null: nothing yet, or nothing more. */
export function intentOf(state: AgentState): Omit<Intent, "since"> | null {
	const { failure } = state;
	const pids = "workers" in state ? state.workers.map(({ pid }) => pid) : [];
	const base = { failure, cause: null, finishedPlan: null, pids };
	switch (state.phase) {
		case "JOINING":
			return state.claim === 0
				? null
				: { ...base, state: "ready", claim: state.claim };
		case "RUNNING":
			return { ...base, state: "running", claim: state.round };
		case "STOPPING":
			return state.next.kind === "leave"
				? {
						...base,
						state: "leaving",
						claim: state.claim,
						cause: state.next.reason,
					}
				: { ...base, state: "stopping", claim: state.claim };
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

/** The local ranks whose processes may still be there. */
export function remaining(workers: readonly WorkerSlot[]): readonly number[] {
	return workers
		.filter((worker) => worker.status !== "gone")
		.map((worker) => worker.localRank);
}
