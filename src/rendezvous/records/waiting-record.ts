export interface NodeList {
	readonly count: number;
	/** The first few of them. */
	readonly names: readonly string[];
}

export type AwaitedKind =
	/** Members that hold their lease, or are expected back. */
	| "members"
	/** The minimum number of nodes. */
	| "minimum"
	/** Further nodes for the first round. */
	| "last-call"
	/** Further nodes while a round runs. */
	| "newcomers"
	/** The time before a restart, because nothing makes progress. */
	| "delay"
	/** The end of a round that admits no more nodes although there is room. */
	| "end";

/** What the planner waits for before the next round begins. */
export interface Awaited {
	/** The round that will begin. */
	readonly round: number;
	readonly kind: AwaitedKind;
	/** Nodes that are ready, in their order. */
	readonly here: NodeList;
	/** Nodes that are known and not ready. */
	readonly missing: NodeList;
	/** How many more nodes must come. */
	readonly needed: number;
	readonly minNodes: number;
	readonly maxNodes: number;
}

/**
 * `waiting`: what the coordinator waits for, so that every agent and user can see it. Times are milliseconds since 1970
 * by its clock.
 */
export interface WaitingRecord extends Awaited {
	readonly version: 1;
	readonly instance: number;
	readonly since: number;
	/** When the wait ends; null if it has no set end. */
	readonly until: number | null;
}
