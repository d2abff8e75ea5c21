/** A permanent name of one failure, so that it is charged once: node, incarnation, sequence. */
export type FailureId = string;

/** One worker's failure, as its agent reports it. */
export interface FailureRecord {
	readonly id: FailureId;
	readonly nodeId: string;
	readonly round: number;
	readonly rank: number;
	readonly localRank: number;
	readonly role: string;
	readonly pid: number | null;
	/** The worker's exit code; 128 + n if signal n killed it. */
	readonly exitCode: number;
	/** The signal that ended it, or null. */
	readonly signal: string | null;
	/** Set if its process had not ended: it was given up, or waited for another round. */
	readonly isGivenUp?: boolean | undefined;
	/** How long the worker had been up, in milliseconds. */
	readonly uptimeMs: number;
	/** When the failure was seen, or since when the worker has waited, in milliseconds since 1970; only informs people. */
	readonly timestamp: number;
	/** One line in words: "exit code 1", "killed by SIGKILL", "cannot be started: …". */
	readonly description: string;
	/** The likely meaning and where to look. */
	readonly hint?: string | undefined;
	/** The rule that decided what follows, in words; undefined: the policy decided. */
	readonly rule?: string | undefined;
	/** What was found out about a worker that hung, before it was killed: at most five lines. */
	readonly evidence?: readonly string[] | undefined;
	/** The message of its error file, if it wrote one. */
	readonly message?: string | undefined;
	/** The worker's last step in its round, if it has made one. */
	readonly step?: number | undefined;
	/** Its process was not started as usual: docs/warm-restarts.md. Undefined: it was, or that is not known. */
	readonly startedWarm?: boolean | undefined;
	/** Its node is not known to be at fault: its worker stands for the round, and only the run pays. */
	readonly isUnattributed?: boolean | undefined;
	/** The exception and where it was raised, or the last line of its stderr: one line. */
	readonly said?: string | undefined;
	/** Failures with the same one are the same failure: see fingerprint.ts. Undefined: its cause may be outside the program. */
	readonly fingerprint?: string | undefined;
}

/** "rank 2 on node-a: killed by SIGKILL". */
export function describeFailure(failure: FailureRecord): string {
	return `rank ${failure.rank} on ${failure.nodeId}: ${failure.description}`;
}
