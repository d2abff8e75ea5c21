/** Why the world changed. A worker's or node's failure is a `SCALE_DOWN`. */
export type WorldChangeEvent = "SCALE_UP" | "SCALE_DOWN";

/** What the agent asks of a worker: to work, or to hold still until the next `WORK`. */
export type WorkerState = "HEALTHY" | "PAUSED";

/** A worker's place in the world of one round. */
export interface WorkerInfo {
	/** Rank among the workers of this node, from 0. */
	readonly localRank: number;
	/** Rank among the workers of the same role, from 0. */
	readonly roleRank: number;
	/** Global rank among all workers, from 0. */
	readonly rank: number;
	/** Number of workers on this node. */
	readonly localWorldSize: number;
	/** Number of workers of this role. */
	readonly roleWorldSize: number;
	/** Number of workers in the world. */
	readonly worldSize: number;
	/** Rank of this node among the nodes, from 0. */
	readonly groupRank: number;
	/** Number of nodes in the world. */
	readonly groupWorldSize: number;
	readonly role: string;
	/** Address of the node of rank 0. */
	readonly masterAddr: string;
	/** A port that is free on the node of rank 0 for this round. */
	readonly masterPort: number;
	/** Number of the round, from 1; higher in each later round. */
	readonly round: number;
	/** Incidents that the run has been charged for so far; the same in every worker. */
	readonly restartCount: number;
	readonly runId: string;
}

/** One message from the agent to a worker. */
export interface WorkerEvent {
	/** Position in this worker's channel: 1, 2, 3 … without gaps. */
	readonly sequence: number;
	/** Milliseconds since 1970. */
	readonly timestamp: number;
	readonly kind: "PAUSE" | "WORK";
	readonly workerState: WorkerState;
	/** Why; `null` in a worker's first event. The same in a PAUSE and in the WORK that ends it. */
	readonly changeEvent: WorldChangeEvent | null;
	/** Names one start of a run; (`instance`, `round`), compared in that order, is the fencing token. */
	readonly instance: number;
	readonly round: number;
	/** Why, in words. */
	readonly reason: string;
	/** In a PAUSE: that of the round being left. */
	readonly workerInfo: WorkerInfo;
}

/** What a worker tells its agent. */
export type WorkerReply =
	| { readonly kind: "HELLO" }
	| { readonly kind: "ACK"; readonly event: number }
	| {
			readonly kind: "WAITING";
			readonly round: number;
			readonly message: string;
	  }
	/** It waits no longer, and no round has come: its time-out or its signal ended the wait. */
	| { readonly kind: "WAITED" }
	/** It works in this round, which was there when it came to wait for it. */
	| { readonly kind: "WORKING"; readonly round: number }
	| {
			readonly kind: "PROGRESS";
			readonly step: number;
			readonly [detail: string]: unknown;
	  }
	| {
			readonly kind: "ERROR";
			readonly message: string;
			readonly stack?: string | undefined;
	  };

/** A reply as the agent gets it. `sequence` rises within one process; several processes of a worker share the numbers. */
export type ReceivedReply = WorkerReply & {
	readonly sequence: number;
	/** Milliseconds since 1970, by the worker's clock. */
	readonly timestamp: number;
};
