import {
	fields,
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
} from "../rendezvous/records/record-parts.js";
import type {
	Collective,
	Frame,
	GroupProgress,
	RankEvidence,
} from "./evidence.js";

/** `evidence/<nodeId>`: what a node has found out about its workers while their round hangs, written under its lease. */
export interface EvidenceRecord {
	readonly version: 1;
	readonly instance: number;
	readonly round: number;
	readonly ranks: readonly RankEvidence[];
	/** When it was taken, in milliseconds since 1970. */
	readonly at: number;
	/** The questions that it answers; absent if the round hangs. */
	readonly asked?: readonly string[] | undefined;
}

/** `asked/<id>`: a question to all agents of a run, what their workers do. */
export interface AskedRecord {
	readonly version: 1;
	/** In milliseconds since 1970. */
	readonly at: number;
}

/** Frames in a record: enough to compare stacks. */
const MOST_FRAMES = 12;

const any = whole(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);

const frame = fields<Frame>({ file: words, line: count, function: words });

const collective = fields<Collective>({
	sequence: count,
	operation: words,
	shape: words,
});

const groupProgress = fields<GroupProgress>({
	group: words,
	ranks: optional(list(count)),
	entered: count,
	unfinished: optional(collective),
});

const rankEvidence = fields<RankEvidence>({
	rank: count,
	localRank: count,
	nodeId: name,
	pid: nullable(positive),
	activity: oneOf("stopped", "blocked", "busy", "idle", "gone"),
	waitChannel: optional(words),
	threads: optional(count),
	step: optional(any),
	frames: list(frame),
	where: optional(words),
	groups: list(groupProgress),
});

export const EVIDENCE = fields<EvidenceRecord>({
	version,
	instance,
	round,
	ranks: list(rankEvidence),
	at: time,
	asked: optional(list(token)),
});

/** The evidence as it is shared: without the outer frames of deep stacks. */
export function shared(evidence: RankEvidence): RankEvidence {
	return { ...evidence, frames: evidence.frames.slice(0, MOST_FRAMES) };
}
