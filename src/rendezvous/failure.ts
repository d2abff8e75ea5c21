/** Names one failure for ever, so that it is charged once: node, incarnation, sequence. */
export type FailureId = string;

/** One worker's failure, as an agent reports it to the others. */
export interface FailureRecord {
	readonly id: FailureId;
	readonly nodeId: string;
	readonly round: number;
	readonly rank: number;
	readonly localRank: number;
	readonly role: string;
	readonly pid: number | null;
	/** The worker's exit code; of one that died of signal n, 128 + n. */
	readonly exitCode: number;
	/** The signal that ended it, or null. */
	readonly signal: string | null;
	/** Given where its process had not ended: it was given up, or waited for another round. */
	readonly isGivenUp?: boolean | undefined;
	/** How long it had been up when it ended, in milliseconds. */
	readonly uptimeMs: number;
	/** When it was seen, in milliseconds since 1970; for people only. */
	readonly timestamp: number;
	/** One line in words: "exit code 1", "killed by SIGKILL", "cannot be started: …". */
	readonly description: string;
	/** What the exit probably means and where to look. */
	readonly hint?: string | undefined;
	/** The message of its error file, where it left one. */
	readonly message?: string | undefined;
}

/** "rank 2 on node-a: killed by SIGKILL". */
export function describeFailure(failure: FailureRecord): string {
	return `rank ${failure.rank} on ${failure.nodeId}: ${failure.description}`;
}
