import {
	amount,
	fields,
	list,
	mapOf,
	nullable,
	oneOf,
	optional,
} from "../../base/shape.js";
import {
	anyNumber,
	count,
	duration,
	instance,
	name,
	round,
	time,
	token,
	version,
} from "./record-parts.js";

/** Where a worker's steps were learned, the best first. */
export const STEP_SOURCES = ["report", "hook", "output"] as const;
export type StepSource = (typeof STEP_SOURCES)[number];

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
}

/** `progress/<nodeId>`: the steps of an agent's workers, written under its lease. It only informs people. */
export interface ProgressRecord {
	readonly version: 1;
	readonly nodeId: string;
	readonly instance: number;
	readonly round: number;
	/** Only those that have made a step. */
	readonly workers: readonly WorkerProgress[];
	/** Until when one of them has announced that no step comes, in milliseconds since 1970; absent if none has since its last step. */
	readonly busyUntil?: number | undefined;
}

const workerProgress = fields<WorkerProgress>({
	localRank: count,
	step: amount(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
	source: oneOf(...STEP_SOURCES),
	stepAt: time,
	rate: nullable(duration),
	metrics: optional(mapOf(token, anyNumber)),
});

export const PROGRESS = fields<ProgressRecord>({
	version,
	nodeId: name,
	instance,
	round,
	workers: list(workerProgress),
	busyUntil: optional(time),
});
