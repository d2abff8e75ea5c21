/** `budgets/<nodeId>`: what this node has used up; it outlives the node's processes. */
export interface BudgetRecord {
	readonly version: 1;
	readonly charged: number;
	/** What each of its workers has used up, by local rank. */
	readonly workers?: Readonly<Record<string, number>>;
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
