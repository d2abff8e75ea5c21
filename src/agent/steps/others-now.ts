import type { Clock } from "../../base/clock.js";
import { within } from "../../base/within.js";
import type { ProgressRecord } from "../../rendezvous/records/progress-record.js";
import { type ReadProgressOptions, readProgress } from "./read-progress.js";

/** What the other nodes of a round do while this one stands still. */
export interface OthersNow {
	/** Until when one has announced that no step comes, in milliseconds since 1970; 0 if none has. */
	readonly busyUntil: number;
	/** Those that make steps: they do not wait for this one. */
	readonly moving: readonly string[];
}

export interface OthersOptions extends ReadProgressOptions {
	readonly clock: Clock;
	readonly nodeId: string;
	/** When this node made its last step, in milliseconds since 1970. */
	readonly stillSince: number;
	readonly limitMs: number;
	/** How long taking evidence may hold up what follows. */
	readonly evidenceMs: number;
}

/** The part of that time which a slow store has for its answer: the rest is for the evidence itself. */
const ANSWER_PART = 0.6;

/** Nodes that wait for each other stand still within one step, but notice their steps up to so late, in milliseconds. */
const LATE_MS = 2_000;
/** The same where a step takes long, and for clocks that differ: a part of the limit. */
const LATE_PART = 0.25;

/** Nothing is known of them if the store does not answer in time. */
export async function othersNow(options: OthersOptions): Promise<OthersNow> {
	const { clock, evidenceMs } = options;
	const asked = readProgress(options);
	const records = await within(clock, ANSWER_PART * evidenceMs, asked);
	return describeOthers(records ?? [], options);
}

export function describeOthers(
	records: readonly ProgressRecord[],
	{
		nodeId,
		stillSince,
		limitMs,
	}: Pick<OthersOptions, "nodeId" | "stillSince" | "limitMs">,
): OthersNow {
	const others = records.filter((one) => one.nodeId !== nodeId);
	const from = stillSince + Math.max(LATE_MS, LATE_PART * limitMs);
	const hasMoved = ({ workers }: ProgressRecord) =>
		workers.some(({ stepAt }) => stepAt > from);
	return {
		// The workers here may wait for that one.
		busyUntil: Math.max(0, ...others.map(({ busyUntil = 0 }) => busyUntil)),
		moving: others.filter(hasMoved).map((one) => one.nodeId),
	};
}
