import { fields, flag, nullable, oneOf, optional } from "../../base/shape.js";
import { COLD_KINDS, type NextStart, type Starts } from "../../model/start.js";
import { STEP_SOURCES, type StepSource } from "../../model/step.js";
import {
	count,
	duration,
	instance,
	name,
	round,
	step,
	time,
	version,
	words,
} from "./record-parts.js";

/** How long a node spent on one stage of a round, in milliseconds; the announced times are part of `ms`. */
export interface StageTime {
	readonly ms: number;
	readonly savingMs: number;
	readonly loadingMs: number;
}

/** How far a node has come, and how its steps are counted. */
export interface Furthest {
	readonly step: number;
	readonly source: StepSource;
	/** A worker's number went back within a round, so numbers do not tell how far a program is. */
	readonly startsOver?: boolean | undefined;
}

/** The steps of a node's workers in one round. Times are milliseconds since 1970. */
export interface RoundSteps {
	readonly first: number;
	readonly furthest: Furthest;
	readonly firstAt: number;
	/** The first step that no earlier round had made; null if there is none, or if the numbers cannot be compared. */
	readonly newAt: number | null;
	/** Its numbers cannot be compared with those of earlier rounds. */
	readonly isUnsure?: boolean | undefined;
}

/**
 * The stages of a round: until the first step; steps made again; new steps; steps whose numbers cannot be compared with
 * those of earlier rounds; and what was announced since the last step.
 */
export interface Stages {
	readonly start: StageTime;
	readonly again: StageTime;
	readonly fresh: StageTime;
	readonly unsure: StageTime;
	readonly open: StageTime;
}

/**
 * `ledger/<round>/<nodeId>`: what a node did in a round, for the ledger of time. Its agent writes it, without a lease.
 * Times are milliseconds since 1970 by the node's clock. It only informs people.
 */
export interface LedgerRecord {
	readonly version: 1;
	readonly nodeId: string;
	readonly instance: number;
	/** The round that it is in, or waits for. */
	readonly round: number;
	/** When its agent came to the run; another time means another agent. */
	readonly arrivedAt: number;
	readonly writtenAt: number;
	/** When its workers were started, or told to work; null if they were not. */
	readonly startedAt: number | null;
	/** Until when they ran: then they were ended or paused, or the last one had succeeded. */
	readonly ranUntil: number | null;
	/** When none of them was left, or when all that were left had paused. */
	readonly stoppedAt: number | null;
	/** What it does after that: its workers have all succeeded, or they wait for another round. */
	readonly after?: "finished" | "paused" | undefined;
	/** When its agent left the run. */
	readonly leftAt?: number | undefined;
	/** How far earlier rounds came; null if there is none. */
	readonly before: Furthest | null;
	/** Null if it has made none. */
	readonly steps: RoundSteps | null;
	readonly stages: Stages;
	/** How long the steps of all nodes waited for slow ranks, in milliseconds. Only the round's first node knows it. */
	readonly stragglerMs?: number | undefined;
	/** How often it saved. */
	readonly saves: number;
	/** Absent without `--warm auto`, and if it started no worker for this round. */
	readonly starts?: Starts | undefined;
	/** Absent without `--warm auto`. */
	readonly nextStart?: NextStart | undefined;
}

const stage = fields<StageTime>({
	ms: duration,
	savingMs: duration,
	loadingMs: duration,
});

const furthest = fields<Furthest>({
	step,
	source: oneOf(...STEP_SOURCES),
	startsOver: optional(flag),
});

export const LEDGER = fields<LedgerRecord>({
	version,
	nodeId: name,
	instance,
	round,
	arrivedAt: time,
	writtenAt: time,
	startedAt: nullable(time),
	ranUntil: nullable(time),
	stoppedAt: nullable(time),
	after: optional(oneOf("finished", "paused")),
	leftAt: optional(time),
	before: nullable(furthest),
	steps: nullable(
		fields<RoundSteps>({
			first: step,
			furthest,
			firstAt: time,
			newAt: nullable(time),
			isUnsure: optional(flag),
		}),
	),
	stages: fields<Stages>({
		start: stage,
		again: stage,
		fresh: stage,
		unsure: stage,
		open: stage,
	}),
	stragglerMs: optional(duration),
	saves: count,
	starts: optional(
		fields<Starts>({
			...{ warm: count, cold: count, reason: optional(words) },
			kind: optional(oneOf(...COLD_KINDS)),
		}),
	),
	nextStart: optional(
		fields<NextStart>({
			start: oneOf("warm", "importing", "cold"),
			reason: optional(words),
			...{ modules: optional(count), bytes: optional(count) },
			waiting: optional(count),
		}),
	),
});
