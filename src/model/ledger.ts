import {
	fields,
	type Infer,
	nullable,
	oneOf,
	optional,
} from "../base/shape.js";
import { nextStart, starts } from "./start.js";
import { furthest, roundSteps, stages } from "./step.js";
import {
	count,
	duration,
	instance,
	name,
	round,
	time,
	version,
} from "./value.js";

/**
 * `ledger/<round>/<nodeId>`: what a node did in a round, for the ledger of time. Its agent writes it, without a lease.
 * Times are milliseconds since 1970 by the node's clock. It only informs people.
 */
export type LedgerRecord = Infer<typeof LEDGER>;

export const LEDGER = fields({
	version,
	nodeId: name,
	instance,
	/** The round that it is in, or waits for. */
	round,
	/** When its agent came to the run; another time means another agent. */
	arrivedAt: time,
	writtenAt: time,
	/** When its workers were started, or told to work; null if they were not. */
	startedAt: nullable(time),
	/** Until when they ran: then they were ended or paused, or the last one had succeeded. */
	ranUntil: nullable(time),
	/** When none of them was left, or when all that were left had paused. */
	stoppedAt: nullable(time),
	/** What it does after that: its workers have all succeeded, or they wait for another round. */
	after: optional(oneOf("finished", "paused")),
	/** When its agent left the run. */
	leftAt: optional(time),
	/** How far earlier rounds came; null if there is none. */
	before: nullable(furthest),
	/** Null if it has made none. */
	steps: nullable(roundSteps),
	stages,
	/** How long the steps of all nodes waited for slow ranks, in milliseconds. Only the round's first node knows it. */
	stragglerMs: optional(duration),
	saves: count,
	/** Absent without warm starts, and if it started no worker for this round. */
	starts: optional(starts),
	/** Absent without warm starts. */
	nextStart: optional(nextStart),
});
