import {
	fields,
	flag,
	type Infer,
	list,
	nullable,
	optional,
} from "../../base/shape.js";
import {
	count,
	duration,
	exitCode,
	name,
	positive,
	round,
	step,
	time,
	token,
	words,
} from "../../model/index.js";

/** One worker's failure, as its agent reports it. */
export type FailureRecord = Infer<typeof failure>;

/** A permanent name of one failure, so that it is charged once: node, incarnation, sequence. */
export type FailureId = FailureRecord["id"];

export const failure = fields({
	/** See `FailureId`. */
	id: token,
	nodeId: name,
	round,
	rank: count,
	localRank: count,
	/** A worker that was never in a round has no role yet. */
	role: token,
	pid: nullable(positive),
	/** The worker's exit code; 128 + n if signal n killed it. */
	exitCode,
	/** The signal that ended it, or null. */
	signal: nullable(token),
	/** Set if its process had not ended: it was given up, or waited for another round. */
	isGivenUp: optional(flag),
	/** How long the worker had been up, in milliseconds. */
	uptimeMs: duration,
	/** When the failure was seen, or since when the worker has waited, in milliseconds since 1970; only informs people. */
	timestamp: time,
	/** One line in words: "exit code 1", "killed by SIGKILL", "cannot be started: …". */
	description: words,
	/** The likely meaning and where to look. */
	hint: optional(words),
	/** The rule that decided what follows, in words; undefined: the policy decided. */
	rule: optional(words),
	/** What was found out about a worker that hung, before it was killed: at most five lines. */
	evidence: optional(list(words)),
	/** The message of its error file, if it wrote one. */
	message: optional(words),
	/** The worker's last step in its round, if it has made one. */
	step: optional(step),
	/** Its process was not started as usual: docs/warm-restarts.md. Undefined: it was, or that is not known. */
	startedWarm: optional(flag),
	/** Its node is not known to be at fault: its worker stands for the round, and only the run pays. */
	isUnattributed: optional(flag),
	/** The exception and where it was raised, or the last line of its stderr: one line. */
	said: optional(words),
	/** Failures with the same one are the same failure: see fingerprint.ts. Undefined: its cause may be outside the program. */
	fingerprint: optional(words),
	/** No restart can change it: a missing module, a program that cannot be read, wrong arguments. */
	isInVain: optional(flag),
});

/** "rank 2 on node-a: killed by SIGKILL". */
export function describeFailure(failure: FailureRecord): string {
	return `rank ${failure.rank} on ${failure.nodeId}: ${failure.description}`;
}
