/** What was charged to a budget. */
export interface Spending {
	readonly count: number;
	/** When, in milliseconds since 1970 by the coordinator's clock: the newest, and only if a window makes it count. */
	readonly at: readonly number[];
}

/** `budgets/<nodeId>`: what this node has used up; it outlives the node's processes. */
export interface BudgetRecord {
	readonly version: 1;
	readonly charged: number;
	/** When; see `Spending`. */
	readonly chargedAt?: readonly number[] | undefined;
	/** What each of its workers has used up, by local rank. */
	readonly workers?: Readonly<Record<string, number>>;
	readonly workersAt?: Readonly<Record<string, readonly number[]>> | undefined;
	/** Failures on this node, whoever paid for them, if `--max-node-restarts` limits them. */
	readonly failures?: Spending | undefined;
	/** Why it may not take part any more although no budget above is spent, in words. */
	readonly barred?: string | undefined;
}

/** A failure that came again and again: see identical-failures.ts. */
export interface RepeatedFailure {
	readonly fingerprint: string;
	readonly times: number;
	/** The furthest step of the workers that failed; absent if they count none. */
	readonly step?: number | undefined;
	/** Where it was: the nodes that it came from. */
	readonly nodes: readonly string[];
	/** The newest of them, each in one line. */
	readonly lines: readonly string[];
}

/** The furthest step of a node's workers in a round. */
export interface Reached {
	readonly round: number;
	/** Null if a worker has gone back in the round, so that its steps do not show how far it is. */
	readonly step: number | null;
}

/** Why a node's machine will go. */
export interface NoticeRecord {
	/** "aws", "slurm", "command" …; later agents may know others. */
	readonly source: string;
	readonly reason: string;
	/** When the machine goes, in milliseconds since 1970; absent if unknown. */
	readonly deadline?: number | undefined;
}
