import {
	fields,
	type Infer,
	list,
	nullable,
	oneOf,
	optional,
	whole,
} from "../base/shape.js";
import {
	count,
	instance,
	name,
	positive,
	round,
	time,
	token,
	version,
	words,
} from "./value.js";

/** Frames in a record: enough to compare stacks. */
const MOST_FRAMES = 12;

const any = whole(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);

export type Frame = Infer<typeof frame>;

const frame = fields({
	/** As the worker's interpreter names it. */
	file: words,
	line: count,
	function: words,
});

/** One collective operation, as a worker's flight recorder has it. */
export type Collective = Infer<typeof collective>;

const collective = fields({
	/** Its number in its process group. */
	sequence: count,
	/** "gloo:all_reduce". */
	operation: words,
	/** "[4] Float". */
	shape: words,
});

/** A worker's place in the collectives of one process group. */
export type GroupProgress = Infer<typeof groupProgress>;

const groupProgress = fields({
	group: words,
	/** The ranks of the group; undefined if the recorder does not tell. */
	ranks: optional(list(count)),
	/** The newest that it has entered; 0 if none. */
	entered: count,
	/** The oldest that it has entered and that is not over; undefined if all are. */
	unfinished: optional(collective),
});

/** How far a worker is with torch's process group. */
export const GROUP_STATES = ["joining", "joined"] as const;

/**
 * What a process does.
 * `stopped`: SIGSTOP or a debugger holds it; `busy`: its processor time, or what it reads and writes, grows; `blocked`:
 * kernel state D, which no signal ends, and nothing grows; `idle`: nothing of that; `gone`: there is no such process.
 */
export type Activity = Infer<typeof activity>;

const activity = oneOf("stopped", "blocked", "busy", "idle", "gone");

/** What is known of one worker that makes no step. */
export type RankEvidence = Infer<typeof rankEvidence>;

const rankEvidence = fields({
	rank: count,
	localRank: count,
	nodeId: name,
	pid: nullable(positive),
	activity,
	/** The kernel's function in which it waits; undefined if unknown. */
	waitChannel: optional(words),
	threads: optional(count),
	/** Its last step in this round; undefined if it has made none. */
	step: optional(any),
	/** The frames of its main thread, the innermost first; empty if unknown. */
	frames: list(frame),
	/** The innermost frame of the user's own code: "train.py:41 in load_batch"; undefined if no stack is known. */
	where: optional(words),
	/** By process group; empty without a recorder. */
	groups: list(groupProgress),
	/** As its hook says; undefined if it has not begun to join one, or has no hook. */
	processGroup: optional(oneOf(...GROUP_STATES)),
	/** The uncaught exception of which its process ends, in words; undefined if none is known. */
	raised: optional(words),
});

/** `evidence/<nodeId>`: what a node has found out about its workers while their round hangs, written under its lease. */
export type EvidenceRecord = Infer<typeof EVIDENCE>;

export const EVIDENCE = fields({
	version,
	instance,
	round,
	ranks: list(rankEvidence),
	/** When it was taken, in milliseconds since 1970. */
	at: time,
	/** The questions that it answers; absent if the round hangs. */
	asked: optional(list(token)),
});

/** The evidence as it is shared: without the outer frames of deep stacks. */
export function shared(evidence: RankEvidence): RankEvidence {
	return { ...evidence, frames: evidence.frames.slice(0, MOST_FRAMES) };
}
