import {
	fields,
	list,
	mapOf,
	nullable,
	oneOf,
	optional,
} from "../../base/shape.js";
import type { StartKind } from "../../model/start.js";
import { STEP_SOURCES, type StepSource } from "../../model/step.js";
import {
	anyNumber,
	count,
	duration,
	instance,
	name,
	round,
	step,
	time,
	token,
	version,
	words,
} from "./record-parts.js";

/** `own-time`: until it waits for others; `arrival`: its report of a step, after that of the middle one of its node. */
export const PACE_KINDS = ["own-time", "arrival"] as const;

/** How slow a worker was in its last steps, in seconds a step. Only those of one kind can be compared. */
export interface Pace {
	readonly by: (typeof PACE_KINDS)[number];
	/** Nearly all of these steps took at least so long … */
	readonly least: number;
	readonly usual: number;
	/** … and at most so long. */
	readonly most: number;
}

/** The rank for which the others wait in each step. */
export interface Straggler {
	readonly rank: number;
	readonly node: string;
	readonly lostSecondsPerStep: number;
	/** What all steps since then have lost to it. */
	readonly lostSeconds: number;
	/** Milliseconds since 1970. */
	readonly since: number;
}

/** What a node has found out about a round that stands still. */
export const HANG_KINDS = ["hung", "slow", "stopped", "mismatch"] as const;
export type HangKind = (typeof HANG_KINDS)[number];

export interface Hang {
	readonly kind: HangKind;
	/** When the last step came, in milliseconds since 1970. */
	readonly since: number;
	/** Null if nothing points to anybody. */
	readonly suspect: Suspect | null;
}

export interface Suspect {
	readonly rank: number;
	readonly node: string;
	/** In words: "it has not entered gloo:all_reduce …". */
	readonly why: string;
	/** "train.py:41 in load_batch"; null if no stack is known. */
	readonly where: string | null;
}

/** How far one worker has come in its round. */
export interface WorkerProgress {
	readonly localRank: number;
	readonly step: number;
	readonly source: StepSource;
	/** When its agent saw that step, in milliseconds since 1970 by the agent's clock. */
	readonly stepAt: number;
	/** Steps a second; null if it is not known yet. */
	readonly rate: number | null;
	/** The numbers that it reported with the step. */
	readonly metrics?: Readonly<Record<string, number>> | undefined;
	/** Whether its process was forked with its imports; default: cold. */
	readonly start?: StartKind | undefined;
	/** Undefined before enough steps. */
	readonly pace?: Pace | undefined;
}

/** `progress/<nodeId>`: the steps of an agent's workers, written under its lease. It only informs people. */
export interface ProgressRecord {
	readonly version: 1;
	readonly nodeId: string;
	readonly instance: number;
	readonly round: number;
	/** The global rank of this node's first worker. */
	readonly firstRank?: number | undefined;
	/** Only those that have made a step. */
	readonly workers: readonly WorkerProgress[];
	/** Only in the record of the round's first node. */
	readonly straggler?: Straggler | undefined;
	/** Until the next step. */
	readonly hang?: Hang | undefined;
	/** Until when one of them has announced that no step comes, in milliseconds since 1970; absent if none has since its last step. */
	readonly busyUntil?: number | undefined;
}

const pace = fields<Pace>({
	by: oneOf(...PACE_KINDS),
	least: anyNumber,
	usual: anyNumber,
	most: anyNumber,
});

const straggler = fields<Straggler>({
	rank: count,
	node: name,
	lostSecondsPerStep: duration,
	lostSeconds: duration,
	since: time,
});

const hang = fields<Hang>({
	kind: oneOf(...HANG_KINDS),
	since: time,
	suspect: nullable(
		fields<Suspect>({
			rank: count,
			node: name,
			why: words,
			where: nullable(words),
		}),
	),
});

const workerProgress = fields<WorkerProgress>({
	localRank: count,
	step,
	source: oneOf(...STEP_SOURCES),
	stepAt: time,
	rate: nullable(duration),
	metrics: optional(mapOf(token, anyNumber)),
	start: optional(oneOf("warm", "cold")),
	pace: optional(pace),
});

export const PROGRESS = fields<ProgressRecord>({
	version,
	nodeId: name,
	instance,
	round,
	firstRank: optional(count),
	workers: list(workerProgress),
	straggler: optional(straggler),
	hang: optional(hang),
	busyUntil: optional(time),
});
