import { RECORD_VERSION } from "../records/records.js";
import type { Awaited, WaitingRecord } from "../records/waiting-record.js";

/** How long a wait must last before it is published, and how long at least lies between two publications, in milliseconds. */
const TELL_EVERY_MS = 4_000;

/** A delay of less than this is over before anybody could read of it, in milliseconds. */
const LONG_MS = 1_000;

/** A deadline converted from one clock to another is never exactly the same twice. */
const SAME_TIME_MS = 1_000;

/** When a coordinator began to wait for a round, on its own steady clock, and when it last published that. */
export interface WaitingMemory {
	readonly round: number;
	readonly since: number;
	readonly toldAt: number | null;
}

interface WaitingStep {
	/** What to write; null: delete what is there; undefined: do nothing. */
	readonly write: WaitingRecord | null | undefined;
	/** When to look again, on the steady clock. */
	readonly lookAt: number | undefined;
	readonly memory: WaitingMemory | null;
}

/**
 * What to publish now. A short wait is not published, so that an ordinary restart writes nothing. A longer one is
 * published when it changes, and not often.
 */
export function tellWaiting(
	awaited: Awaited | undefined,
	until: number | undefined,
	told: WaitingRecord | undefined,
	known: WaitingMemory | null,
	now: {
		readonly instance: number;
		readonly now: number;
		readonly wallTime: number;
	},
): WaitingStep {
	if (awaited === undefined) {
		const write = told === undefined ? undefined : null;
		return { write, lookAt: undefined, memory: null };
	}
	const { round } = awaited;
	const memory =
		known?.round === round ? known : { round, since: now.now, toldAt: null };
	const isOld = told?.round === round && told.instance === now.instance;
	const record: WaitingRecord = {
		version: RECORD_VERSION,
		instance: now.instance,
		...awaited,
		since: isOld ? told.since : now.wallTime - (now.now - memory.since),
		until: until === undefined ? null : now.wallTime + (until - now.now),
	};
	if (isOld && isSame(record, told)) {
		return { write: undefined, lookAt: undefined, memory };
	}
	// A restart that is held back is told at once, unless it is short.
	const isDelay = awaited.kind === "delay" && (until ?? 0) - now.now >= LONG_MS;
	const dueAt =
		isDelay && memory.toldAt === null
			? now.now
			: (memory.toldAt ?? memory.since) + TELL_EVERY_MS;
	return now.now < dueAt
		? { write: undefined, lookAt: dueAt, memory }
		: {
				write: record,
				lookAt: undefined,
				memory: { ...memory, toldAt: now.now },
			};
}

function isSame(left: WaitingRecord, right: WaitingRecord): boolean {
	const isSameUntil =
		left.until === null || right.until === null
			? left.until === right.until
			: Math.abs(left.until - right.until) < SAME_TIME_MS;
	const rest = ({ until, ...others }: WaitingRecord) => JSON.stringify(others);
	return isSameUntil && rest(left) === rest(right);
}
