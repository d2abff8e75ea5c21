import type { HeldFile } from "../logs/index.js";
import type { StartKind } from "../model/index.js";

export interface NodeProcess {
	readonly localRank: number;
	readonly rank: number;
	readonly pid: number;
	/** Its channel directory; no two processes have the same. */
	readonly directory: string;
	readonly logs:
		| {
				readonly directory: string;
				readonly stdout: OutputFile | undefined;
				readonly stderr: OutputFile | undefined;
		  }
		| undefined;
	/** When it was spawned, on the agent's clock; undefined: it is not known. */
	readonly startedAt?: number | undefined;
	/** Default: cold. */
	readonly start?: StartKind | undefined;
}

/** Redirected output, and where in the file its process begins. */
interface OutputFile {
	readonly file: HeldFile;
	readonly startBytes: number;
}

/** One worker of a node's present or last round, as its agent has decided. Times are on the agent's clock. */
export interface NodeWorker {
	readonly localRank: number;
	readonly status: "running" | "pausing" | "paused" | "exited" | "gone";
	/** Null until it is spawned. */
	readonly pid: number | null;
	/** When it is killed, and when it must be gone after that; null: it need not end. */
	readonly killAt: number | null;
	readonly goneBy: number | null;
}

/** The failure of a worker, as far as those need it that follow a node. */
interface NodeFailure {
	readonly round: number;
	readonly pid: number | null;
	/** What was found out before it was killed. */
	readonly evidence?: readonly string[] | undefined;
}

/** A node of a run, for those that follow what its workers do. */
export interface NodeState {
	readonly phase: "JOINING" | "RUNNING" | "STOPPING" | "FINISHED" | "CLOSED";
	/** Null before the first view of the run. */
	readonly instance: number | null;
	/** The present or last round of its workers. */
	readonly round: number;
	/** The round that it claims between rounds. */
	readonly claim: number;
	/** Its seat in that round; null if it had none. */
	readonly seat: {
		readonly groupRank: number;
		readonly firstRank: number;
	} | null;
	readonly workers: readonly NodeWorker[];
	/** The last failure among its workers. */
	readonly failure: { readonly failure: NodeFailure } | null;
	readonly view: {
		readonly round: {
			readonly seats: number;
			readonly cause: { readonly root: NodeFailure | null };
		};
	} | null;
}

/** A node whose workers run. */
export type RunningNode = NodeState & {
	readonly phase: "RUNNING";
	readonly seat: NonNullable<NodeState["seat"]>;
};

export function isRunning(node: NodeState | undefined): node is RunningNode {
	return node?.phase === "RUNNING" && node.seat !== null;
}
