import type { NodeDocument, OwnWorker } from "../status/index.js";

/** What a program's launch does on this node now. */
export interface AgentStatus
	extends Pick<NodeDocument, "phase" | "since" | "waitsFor"> {
	/** The newest round whose workers may run; 0 before the first. */
	readonly round: number;
	/** By local rank: the workers of its present or last round. */
	readonly workers: readonly OwnWorker[];
}
