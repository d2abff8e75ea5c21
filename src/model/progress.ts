import {
	fields,
	flag,
	type Infer,
	list,
	mapOf,
	nullable,
	oneOf,
	optional,
} from "../base/shape.js";
import { hang } from "./hang.js";
import { startKind } from "./start.js";
import { pace, STEP_SOURCES, straggler } from "./step.js";
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
} from "./value.js";

/** How far one worker has come in its round. */
export type WorkerProgress = Infer<typeof workerProgress>;

const workerProgress = fields({
	localRank: count,
	step,
	source: oneOf(...STEP_SOURCES),
	/** When its agent saw that step, in milliseconds since 1970 by the agent's clock. */
	stepAt: time,
	/** Steps a second; null if it is not known yet. */
	rate: nullable(duration),
	/** The numbers that it reported with the step. */
	metrics: optional(mapOf(token, anyNumber)),
	/** Whether its process was forked with its imports; default: cold. */
	start: optional(startKind),
	/** Undefined before enough steps. */
	pace: optional(pace),
	/** Its process has ended, and it makes no more. */
	ended: optional(flag),
});

/** What one worker does while no step comes. */
export type BusyWorker = Infer<typeof busyWorker>;

const busyWorker = fields({
	localRank: count,
	/** "saves a checkpoint". */
	what: token,
	/** In milliseconds since 1970, to the second. */
	since: time,
});

/** `progress/<nodeId>`: the steps of an agent's workers, written under its lease. It only informs people. */
export type ProgressRecord = Infer<typeof PROGRESS>;

export const PROGRESS = fields({
	version,
	nodeId: name,
	instance,
	round,
	/** The global rank of this node's first worker. */
	firstRank: optional(count),
	/** Only those that have made a step. */
	workers: list(workerProgress),
	/** Only in the record of the round's first node. */
	straggler: optional(straggler),
	/** Until the next step. */
	hang: optional(hang),
	/** Until when one of them has announced that no step comes, in milliseconds since 1970; absent if none has since its last step. */
	busyUntil: optional(time),
	/** Absent if there are none. */
	busy: optional(list(busyWorker)),
});
