import type { Clock } from "../base/clock.js";
import type { LedgerRecord, RoundSteps, StageTime } from "../model/index.js";
import {
	applyNews,
	NO_TIME,
	type Work,
	type WorkNews,
	workUntil,
} from "./work.js";

/** What a node did in a round. Times are on the agent's steady clock, unless stated otherwise. */
export interface LedgerEntry {
	readonly nodeId: string;
	readonly instance: number;
	readonly round: number;
	/** Milliseconds since 1970. */
	readonly arrivedAt: number;
	/** The same moment by both clocks: when its workers began, or when it began to wait. */
	readonly beganAt: { readonly now: number; readonly wallTime: number };
	/** Null while it waits for its round. */
	readonly work: Work | null;
	readonly ranUntil: number | null;
	readonly stoppedAt: number | null;
	/** How long its steps waited for slow ranks, in milliseconds, as far as this node knows. */
	readonly stragglerMs: number;
	readonly after?: LedgerRecord["after"];
	readonly starts?: LedgerRecord["starts"];
	readonly nextStart?: LedgerRecord["nextStart"];
	/** Milliseconds since 1970. */
	readonly leftAt?: number | undefined;
}

export interface Arrived {
	readonly nodeId: string;
	/** When its agent came to the run, in milliseconds since 1970. */
	readonly arrivedAt: number;
	readonly clock: Clock;
}

/** A node without workers, which waits for this round. */
export function newEntry(
	{ nodeId, arrivedAt, clock }: Arrived,
	instance: number,
	round: number,
): LedgerEntry {
	return {
		nodeId,
		instance,
		round,
		arrivedAt,
		beganAt: { now: clock.now(), wallTime: clock.wallTime() },
		work: null,
		ranUntil: null,
		stoppedAt: null,
		stragglerMs: 0,
	};
}

/**
 * The record of an entry with the latest news. Only its begin is read from the wall clock, so that a change of that clock changes no duration.
 */
export function recordOf(
	{ work, beganAt, ranUntil, stoppedAt, stragglerMs, ...entry }: LedgerEntry,
	news: readonly WorkNews[],
	now: number,
	wallTime: number,
): LedgerRecord {
	const dateOf = (at: number) =>
		Math.round(beganAt.wallTime + (at - beganAt.now));
	const orNull = (at: number | null) => (at === null ? null : dateOf(at));
	const known = work && workUntil(applyNews(work, news), ranUntil ?? now);
	const steps: RoundSteps | null = known?.steps
		? {
				...known.steps,
				firstAt: dateOf(known.steps.firstAt),
				newAt: orNull(known.steps.newAt),
			}
		: null;
	const { start, again, fresh, unsure, open } = known?.stages ?? {};
	return {
		version: 1,
		...entry,
		writtenAt: Math.round(wallTime),
		startedAt: known && Math.round(beganAt.wallTime),
		ranUntil: orNull(ranUntil),
		stoppedAt: orNull(stoppedAt),
		before: known?.before ?? null,
		steps,
		stages: {
			start: rounded(start),
			again: rounded(again),
			fresh: rounded(fresh),
			unsure: rounded(unsure),
			open: rounded(open),
		},
		...(stragglerMs > 0 ? { stragglerMs: Math.round(stragglerMs) } : {}),
		saves: known?.saves ?? 0,
	};
}

function rounded({ ms, savingMs, loadingMs }: StageTime = NO_TIME): StageTime {
	return {
		ms: Math.round(ms),
		savingMs: Math.round(savingMs),
		loadingMs: Math.round(loadingMs),
	};
}
