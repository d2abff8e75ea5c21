import type { Reached, RepeatedFailure, Spending } from "./budget-record.js";
import type { FailureId, FailureRecord } from "./failure.js";
import type { NoticeRecord } from "./notice-record.js";
import type { RefusedSeat } from "./refused-seat.js";

export type {
	BudgetRecord,
	Reached,
	RepeatedFailure,
} from "./budget-record.js";
export type { CoordinatorRecord } from "./coordinator-record.js";
export type { RunSpec } from "./run-spec.js";

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
	/** It is going: no round waits for it or includes it. */
	| "leaving";

/** `nodes/<nodeId>`: an agent's record of itself. Only that agent writes it, under its lease. */
export interface NodeRecord {
	readonly version: 1;
	readonly nodeId: string;
	/** Names this process; the same in all of its sessions with the store. */
	readonly incarnation: string;
	readonly instance: number;
	readonly hostId: string;
	readonly pid: number;
	/** Start time of the process, which distinguishes it from a later one with the same pid. */
	readonly startTime: string;
	/** The round that it wants to join, or is in. */
	readonly claim: number;
	readonly state: NodeState;
	/** When this state began, in milliseconds since 1970 by the node's own clock; only informs people. */
	readonly since: number;
	/** Since when its workers ran in the round that it has left; absent as `ranUntil` is. Only informs people. */
	readonly ranSince?: number | undefined;
	/**
	 * Until when all of its workers ran in the round that it has left, by its own clock: then it began to end or pause
	 * them. Absent if it has not run, or still runs. Only informs people.
	 */
	readonly ranUntil?: number | undefined;
	/** Its workers by local rank, if there are any; null: not started. */
	readonly pids: readonly (number | null)[];
	/** How far its workers came in the round that it has left; absent if they count no steps. */
	readonly reached?: Reached | undefined;
	/** The last failure among its workers. */
	readonly failure: NodeFailure | null;
	/** The last round that it left because its lease was unreliable, if any. */
	readonly fencedIn?: number | undefined;
	/** Why it leaves, or has left its round before the others, in words. */
	readonly cause: string | null;
	/** Set while paused workers keep it from being ready: how long it may wait for them before it ends them, in milliseconds. */
	readonly awaitsWorkersMs?: number | undefined;
	/** Set if it is ready for a round while its workers run on. */
	readonly runsOn?: boolean | undefined;
	/** Set if it leaves on request, without a failure. */
	readonly isAsked?: boolean | undefined;
	/** Set while its machine is about to go. Absent in records of older agents. */
	readonly notice?: NoticeRecord | undefined;
	readonly address: string;
	readonly masterPort: number;
	readonly localWorldSize: number;
	readonly role: string;
	/** The process whose place it takes: that one ended to be started again. */
	readonly succeeds?: string | undefined;
	/** The rank that it wants among newcomers, from 0; absent: after those that want one. */
	readonly nodeRank?: number | undefined;
}

/** A failure with the decision of the agent's policy. */
export interface NodeFailure {
	readonly failure: FailureRecord;
	readonly charge: "run" | "node" | "worker" | "nothing";
	/** Set if the failure ends the run whatever budget is left: the run's exit code. */
	readonly failsRun: number | null;
	/** Set if its node had not heard that the round was over. */
	readonly unaware?: boolean | undefined;
	/**
	 * Set if the worker was paused, or was kept and had not gone on in this round, and nothing in its place has had this
	 * excuse in this incident.
	 */
	readonly paused?: boolean | undefined;
	/** Nothing has failed: the worker waits for another round. */
	readonly isWish?: boolean | undefined;
}

export interface RoundCause {
	readonly kind: "start" | "failure" | "scale-down" | "scale-up";
	readonly changeEvent: "SCALE_UP" | "SCALE_DOWN" | null;
	/** In words: "rank 2 on node-a: exit code 1", "node-b left: SIGTERM". */
	readonly reason: string;
	/** The root failure, if there is one. */
	readonly root: FailureRecord | null;
	/** The round that a change of the members has ended. */
	readonly ended?: number;
	/**
	 * How long before the round was left its first sign was, in milliseconds: see first-sign.ts. Absent if it was left at
	 * once, or for newcomers.
	 */
	readonly noticedAfterMs?: number | undefined;
	/** Nothing had failed: the root is a worker that waited for another round. */
	readonly isWish?: boolean | undefined;
	/** The roles that restart, if that is not the whole run. */
	readonly roles?: readonly string[] | undefined;
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
	/** When it was written, in milliseconds since 1970; only informs people. */
	readonly endedAt?: number | undefined;
	/** The failures that came again and again and so ended it, each in one line. */
	readonly repeated?: readonly string[] | undefined;
}

/** `round`: the one key that tells the state of the run. The coordinator writes it, by compare-and-set. */
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
	/** What was charged to the run's own budget. */
	readonly charged: number;
	/** When; see `Spending`. */
	readonly chargedAt?: readonly number[] | undefined;
	/** What was charged to each role, if `--max-role-restarts` limits it. */
	readonly roles?: Readonly<Record<string, Spending>> | undefined;
	/** Failures of the round `synced`, and of the one before, that are accounted for. */
	readonly accounted: readonly FailureId[];
	/** Why the round was left, while it is open whether it is charged. */
	readonly unpaid?: NodeFailure | undefined;
	/** The furthest step of all rounds, by role; only of roles that count steps. */
	readonly furthest?: Readonly<Record<string, number>> | undefined;
	/** How many incidents in a row have ended a round in which nothing moved; absent: none. */
	readonly fruitless?: number | undefined;
	/** The newest incidents that were the same, without progress between them. */
	readonly repeated?: RepeatedFailure | undefined;
	readonly world: World | null;
	readonly outcome: Outcome | null;
}

/** `seats/<nodeId>`: one agent's place in one round, given by the coordinator. */
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
	/** Its place in the plan that this one will replace; it is valid until then. Null if it had none. */
	readonly previous: PreviousPlace | null;
}

export interface PreviousPlace {
	readonly planId: string;
	readonly groupRank: number;
}

export type Seat = SeatRecord | RefusedSeat;
