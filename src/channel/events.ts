/** Why the world changed. A worker's or node's failure is a `SCALE_DOWN`. */
export const WorldChangeEvent = {
	SCALE_UP: "SCALE_UP",
	SCALE_DOWN: "SCALE_DOWN",
} as const;
export type WorldChangeEvent =
	(typeof WorldChangeEvent)[keyof typeof WorldChangeEvent];

/** What the agent asks of a worker: to work, or to pause until the next `WORK`. */
export const WorkerState = { HEALTHY: "HEALTHY", PAUSED: "PAUSED" } as const;
export type WorkerState = (typeof WorkerState)[keyof typeof WorkerState];

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
	/** Incidents charged to the run so far; the same in every worker. */
	readonly restartCount: number;
	readonly runId: string;
	/** Where and as whom this worker meets the others: what process groups of torch's kind are made with. */
	getPgParameters(): {
		readonly rank: number;
		readonly worldSize: number;
		/** `tcp://ADDRESS:PORT`. */
		readonly initMethod: string;
	};
}

/** The method is none of its enumerable properties: as JSON, and in a comparison, it is the place alone. */
export function workerInfoOf(
	place: Omit<WorkerInfo, "getPgParameters">,
): WorkerInfo {
	const { rank, worldSize, masterAddr, masterPort } = place;
	const host = masterAddr.includes(":") ? `[${masterAddr}]` : masterAddr;
	const initMethod = `tcp://${host}:${masterPort}`;
	const getPgParameters = () => ({ rank, worldSize, initMethod });
	const info = { ...place, getPgParameters };
	return Object.defineProperty(info, "getPgParameters", { enumerable: false });
}

/** One message from the agent to a worker. */
export interface WorkerEvent {
	/** Position in this worker's channel: 1, 2, 3 … without gaps. */
	readonly sequence: number;
	/** Milliseconds since 1970. */
	readonly timestamp: number;
	readonly kind: "PAUSE" | "WORK";
	readonly workerState: WorkerState;
	/** The reason; `null` in a worker's first event. A PAUSE and the WORK that ends it have the same. */
	readonly changeEvent: WorldChangeEvent | null;
	/** Names one start of a run; (`instance`, `round`), compared in that order, is the fencing token. */
	readonly instance: number;
	readonly round: number;
	readonly reason: string;
	/** In a PAUSE: the place in the round being left. */
	readonly workerInfo: WorkerInfo;
}

/**
 * Tells a worker that its machine will go, or with the source null, that it stays after all. It changes neither round nor
 * place, so the calls that show events do not show it.
 */
export interface NoticeEvent extends Omit<WorkerEvent, "kind"> {
	readonly kind: "NOTICE";
	/** When the machine goes, in milliseconds since 1970; null if unknown. */
	readonly deadline: number | null;
	/** Who says so: "aws", "command" …; null: the notice was withdrawn. */
	readonly source: string | null;
}

export type ChannelEvent = WorkerEvent | NoticeEvent;

/** The newest notice, as the events after it repeat it. */
export type NoticeState = Pick<
	NoticeEvent,
	"sequence" | "deadline" | "source" | "reason"
>;

/** What a worker tells its agent. */
export type WorkerReply =
	| { readonly kind: "HELLO" }
	| { readonly kind: "ACK"; readonly event: number }
	/** It has read this notice. It is not ready to end yet: it acknowledges the notice when it is. */
	| { readonly kind: "NOTICED"; readonly event: number }
	| {
			readonly kind: "WAITING";
			readonly round: number;
			readonly message: string;
	  }
	/** It no longer waits, and no round came: its time-out or its signal ended the wait. */
	| { readonly kind: "WAITED" }
	/** It works in this round, which existed already when it asked for work. */
	| { readonly kind: "WORKING"; readonly round: number }
	| {
			readonly kind: "PROGRESS";
			/** Absent only with `busy`. */
			readonly step?: number | undefined;
			/** What it does for `for_seconds` seconds, in which no step comes. */
			readonly busy?: string | undefined;
			readonly for_seconds?: number | undefined;
			readonly [detail: string]: unknown;
	  }
	| {
			readonly kind: "ERROR";
			readonly message: string;
			readonly stack?: string | undefined;
	  };

/** A reply as the agent receives it. `sequence` rises within one process; the processes of one worker share the numbers. */
export type ReceivedReply = WorkerReply & {
	readonly sequence: number;
	/** Milliseconds since 1970, by the worker's clock. */
	readonly timestamp: number;
};
