import type { FailureId, FailureRecord } from "./failure.js";

/** Version of every record; a reader refuses any other. */
export const RECORD_VERSION = 1;

export type NodeState =
	/** It has no workers and is not ready yet. */
	| "joining"
	/** It has left its round and is ending its workers. */
	| "stopping"
	/** It could start workers at once. */
	| "ready"
	| "running"
	/** Its workers have all succeeded. */
	| "finished"
	/** It goes, and is neither wanted nor waited for. */
	| "leaving";

/** `nodes/<nodeId>`: what an agent says of itself. Only that agent writes it, under its lease. */
export interface NodeRecord {
	readonly version: 1;
	readonly nodeId: string;
	/** Names this process; the same over all of its sessions with the store. */
	readonly incarnation: string;
	readonly instance: number;
	readonly hostId: string;
	readonly pid: number;
	/** Start time of the process, so that a reused pid is not taken for it. */
	readonly startTime: string;
	/** The round that it wants to be in, or is in. */
	readonly claim: number;
	readonly state: NodeState;
	/** When this state began, in milliseconds since 1970 by the node's own clock; for people only. */
	readonly since: number;
	/** Its workers by local rank, while there are some; null: not started. */
	readonly pids: readonly (number | null)[];
	/** The last failure among its workers. */
	readonly failure: NodeFailure | null;
	/** The last round that it left because it could not rely on its lease, where there is one. */
	readonly fencedIn?: number | undefined;
	/** Why it leaves, or has left its round before anybody else, in words. */
	readonly cause: string | null;
	/**
	 * Given while it is not ready because of workers that it has told to pause: for how long it
	 * may wait for them, in milliseconds, before it ends them.
	 */
	readonly awaitsWorkersMs?: number | undefined;
	/** Given where it leaves because somebody wants it to: nothing has failed for which it goes. */
	readonly isAsked?: boolean | undefined;
	readonly address: string;
	readonly masterPort: number;
	readonly localWorldSize: number;
	readonly role: string;
}

/** A failure together with what the agent's policy made of it. */
export interface NodeFailure {
	readonly failure: FailureRecord;
	readonly charge: "run" | "node" | "worker" | "nothing";
	/** Given where the failure ends the run whatever budget is left: the run's exit code. */
	readonly failsRun: number | null;
	/**
	 * Given where the worker may still have been in this earlier round: it had not heard
	 * that this was over, or not waited for work since. It may have died of what ended it.
	 */
	readonly stillIn?: number | undefined;
	/** Given where one in its place had been as late before: its node waits for it at a PAUSE since then. */
	readonly isLateAgain?: boolean | undefined;
	/**
	 * Given where the worker may have died of what had ended the round: its node had
	 * not heard of that, or had told it to pause.
	 */
	readonly unaware?: boolean | undefined;
	/** Given where it died while it was paused. */
	readonly paused?: boolean | undefined;
	/** Nothing has failed: the worker waits for another round. */
	readonly isWish?: boolean | undefined;
}

/** `coordinator`: who plans at this moment. Its create revision is the fencing token. */
export interface CoordinatorRecord {
	readonly version: 1;
	readonly nodeId: string;
	readonly incarnation: string;
}

export interface RoundCause {
	readonly kind: "start" | "failure" | "scale-down" | "scale-up";
	readonly changeEvent: "SCALE_UP" | "SCALE_DOWN" | null;
	/** In words: "rank 2 on node-a: exit code 1", "node-b left: SIGTERM". */
	readonly reason: string;
	/** The root failure, where there is one. */
	readonly root: FailureRecord | null;
	/** The round that a change of the members has ended: what dies later, and still is in it, is part of that change. */
	readonly ended?: number;
}

/** The figures of a world that all its workers share. */
export interface World {
	readonly worldSize: number;
	readonly groupWorldSize: number;
	readonly roleWorldSizes: Readonly<Record<string, number>>;
	readonly masterAddr: string;
	readonly masterPort: number;
}

/** How a run ended; every agent exits with it. */
export interface Outcome {
	readonly result: "succeeded" | "failed" | "stopped";
	readonly exitCode: number;
	readonly reason: string;
	readonly root: FailureRecord | null;
	/** When it was written, in milliseconds since 1970; for people only. */
	readonly endedAt?: number | undefined;
}

/** `round`: the one key that says where the run stands. Written by the coordinator, by compare-and-set. */
export interface RoundRecord {
	readonly version: 1;
	/** Names one start of the run; higher in each later one. */
	readonly instance: number;
	/** The newest round whose workers may run; 0 before the first. Never decreases. */
	readonly synced: number;
	/** Every round up to this one must be left. Never decreases, never above `synced`. */
	readonly deprecated: number;
	/** The plan of `synced`; null before an instance's first. */
	readonly planId: string | null;
	/** How many seats the plan has. */
	readonly seats: number;
	/** Why the last change was made. */
	readonly cause: RoundCause;
	/** Incidents of this instance, charged or not. */
	readonly incidents: number;
	/** What the run's own budget has been charged. */
	readonly charged: number;
	/** Failures of the round `synced`, and of the one before, that have been accounted for. */
	readonly accounted: readonly FailureId[];
	/** For what the round was left, while it is not known whether somebody pays for it. */
	readonly unpaid?: NodeFailure | undefined;
	readonly world: World | null;
	readonly outcome: Outcome | null;
}

/** `seats/<nodeId>`: what the coordinator gives one agent in one round. */
export interface SeatRecord {
	readonly version: 1;
	readonly planId: string;
	readonly round: number;
	readonly incarnation: string;
	readonly groupRank: number;
	/** The first of its global ranks. */
	readonly firstRank: number;
	readonly firstRoleRank: number;
	readonly localWorldSize: number;
	readonly role: string;
	/** Its place in the plan that this one shall replace; until that is done, it holds. Null: it had none. */
	readonly previous: PreviousPlace | null;
}

export interface PreviousPlace {
	readonly planId: string;
	readonly groupRank: number;
}

/** `seats/<nodeId>` of a node that may not take part any more. */
export interface RefusedSeat {
	readonly version: 1;
	readonly incarnation: string;
	readonly refused: string;
}

export type Seat = SeatRecord | RefusedSeat;

/** `finished/<nodeId>`: this member has done its part of the plan. */
export interface FinishedRecord {
	readonly version: 1;
	readonly planId: string;
}

/** `budgets/<nodeId>`: what this node has used up; it outlives the node's processes. */
export interface BudgetRecord {
	readonly version: 1;
	readonly charged: number;
	/** What its workers have used up one by one, by local rank. */
	readonly workers?: Readonly<Record<string, number>>;
}

/** `spec`: what all agents of a run must agree on. */
export interface RunSpec {
	readonly version: 1;
	readonly minNodes: number;
	readonly maxNodes: number;
	readonly policy: string;
	/** Nodes that have finished stay so when a round is left. */
	readonly finishedStay?: boolean;
	/** The run's store is this agent's own: no other node can come. */
	readonly isAlone?: boolean;
	readonly maxRestarts: number;
	readonly joinTimeoutMs: number;
	readonly lastCallTimeoutMs: number;
	readonly settleTimeoutMs: number;
	readonly leaseTtlMs: number;
}
