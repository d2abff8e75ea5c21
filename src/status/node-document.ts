import type { NodeLinks } from "../model/index.js";
import type { RoundRecord } from "../rendezvous/index.js";

export const AGENT_PHASES = [
	"JOINING",
	"RUNNING",
	"STOPPING",
	"FINISHED",
	"CLOSED",
] as const;

export type AgentPhase = (typeof AGENT_PHASES)[number];

/** The node of the answering agent, as that agent knows it. */
export interface NodeDocument {
	readonly nodeId: string;
	readonly pid: number;
	readonly phase: AgentPhase;
	/** Since when it has been in that phase. */
	readonly since: number;
	/** What it waits for, in words; null if nothing. */
	readonly waitsFor: string | null;
	/** By local rank: the workers of its present or last round. */
	readonly workers: readonly WorkerDocument[];
	/** Null if it has no links to other nodes. */
	readonly links: NodeLinks | null;
}

/**
 * `pausing`: it has not acknowledged its PAUSE; `stopping`: it was told to end, or its leader has ended and others of its
 * process group have not; `ended`: nothing is left of it.
 */
export type WorkerState = (typeof WORKER_STATES)[number];

export const WORKER_STATES = [
	"starting",
	"running",
	"pausing",
	"paused",
	"stopping",
	"ended",
] as const;

export interface WorkerDocument {
	readonly localRank: number;
	readonly rank: number;
	readonly role: string;
	readonly pid: number | null;
	readonly state: WorkerState;
	/** Since when it has been in that state. */
	readonly since: number;
	/** Its last output: at most 20 lines of at most 500 characters, without control sequences. */
	readonly lastLines: readonly string[];
}

/** What an agent knows of its own node at this moment. */
export interface NodeNow
	extends Pick<NodeDocument, "phase" | "since" | "waitsFor" | "links"> {
	/** When its phase, its round or one of its workers last changed. */
	readonly eventAt: number;
	/** Without their output. */
	readonly workers: readonly OwnWorker[];
	readonly readiness: Readiness;
	/** The newest that it has seen; null before the first. */
	readonly round: RoundRecord | null;
}

export type OwnWorker = Omit<WorkerDocument, "lastLines" | "role">;

/** Whether a node's workers run in a round whose barrier has lifted, and if not, why. */
export interface Readiness {
	readonly isReady: boolean;
	readonly reason: string;
}
