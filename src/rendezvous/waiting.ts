import type { PlannerConfig } from "./plan.js";
import { RECORD_VERSION } from "./records.js";
import type { RunView } from "./run-view.js";

/** So many nodes are named; of the others only the number is told. */
const MOST_NAMES = 8;

/** What must have lasted so long to be worth telling, and how seldom it is told anew, in milliseconds. */
const TELL_EVERY_MS = 4_000;

/** A deadline on one clock, taken over to another, is never the same twice. */
const SAME_TIME_MS = 1_000;

export interface NodeList {
	readonly count: number;
	/** The first of them. */
	readonly names: readonly string[];
}

export type AwaitedKind =
	/** Members that hold their lease, or are expected back. */
	| "members"
	/** As many nodes as a round must have. */
	| "minimum"
	/** Whoever else comes to the first round. */
	| "last-call"
	/** Whoever else comes while a round runs. */
	| "newcomers"
	/** Of a round that lets nobody in any more, though there is room. */
	| "end";

/** What the planner waits for before the next round begins. */
export interface Awaited {
	/** The round that shall begin. */
	readonly round: number;
	readonly kind: AwaitedKind;
	/** Nodes that are ready, in their order. */
	readonly here: NodeList;
	/** Nodes that are known, and are not ready. */
	readonly missing: NodeList;
	/** How many more nodes must come. */
	readonly needed: number;
	readonly minNodes: number;
	readonly maxNodes: number;
}

/**
 * `waiting`: what the coordinator has been waiting for, so that every agent and
 * every user can be told. Times are milliseconds since 1970 by its clock.
 */
export interface WaitingRecord extends Awaited {
	readonly version: 1;
	readonly instance: number;
	readonly since: number;
	/** When it does not wait any longer; null: no end is set. */
	readonly until: number | null;
}

export function awaits(
	kind: AwaitedKind,
	{ round }: Pick<RunView, "round">,
	{ minNodes, maxNodes }: Pick<PlannerConfig, "minNodes" | "maxNodes">,
	nodes: {
		readonly here: readonly string[];
		readonly missing?: readonly string[];
		readonly needed?: number;
	},
): Awaited {
	const { here, missing = [], needed = 0 } = nodes;
	return {
		round: round.synced + 1,
		kind,
		here: nodeList(here),
		missing: nodeList(missing),
		needed,
		minNodes,
		maxNodes,
	};
}

function nodeList(nodeIds: readonly string[]): NodeList {
	return { count: nodeIds.length, names: nodeIds.slice(0, MOST_NAMES) };
}

/** When a coordinator began to wait for a round, on its own steady clock, and when it last told so. */
export interface WaitingMemory {
	readonly round: number;
	readonly since: number;
	readonly toldAt: number | null;
}

export interface WaitingStep {
	/** What to write; null: what stands there is to be deleted; undefined: nothing is to be done. */
	readonly write: WaitingRecord | null | undefined;
	/** When to look again, on the steady clock. */
	readonly lookAt: number | undefined;
	readonly memory: WaitingMemory | null;
}

/**
 * What to tell of it now. What is over soon is not told at all, so that an
 * ordinary restart writes nothing; the rest is told when it changes, and not often.
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
	const dueAt = (memory.toldAt ?? memory.since) + TELL_EVERY_MS;
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
