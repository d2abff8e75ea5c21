import type { Outcome, RoundCause } from "../rendezvous/index.js";
import type { RoundLine, RunHistory } from "./history.js";
import { firstSignOf } from "./round-times.js";
import type { RunDocument } from "./run-document.js";
import { type Span, spansOfNodes } from "./spans.js";

export type { NodePhase, Span } from "./spans.js";

/** How much of a run is kept: this fits a page that asks for it each second. */
export const MOST_NODES = 200;
export const MOST_SPANS = 3_000;
const MOST_ROUNDS = 200;
export const MOST_INCIDENTS = 200;
/** However many nodes there are, at least this many of a node's newest spans are shown. */
const FEWEST_SPANS_OF_NODE = 8;

/**
 * The newest start of a run over time, by node. Part of `/status`: documented in docs/http.md. Times are
 * milliseconds since 1970.
 */
export interface Timeline {
	readonly version: 1;
	readonly instance: number;
	/** When this start of the run began. */
	readonly from: number;
	/** When it ended; null if it has not. */
	readonly endedAt: number | null;
	readonly outcome: Pick<Outcome, "result" | "reason"> | null;
	/** Members by rank, others in order of arrival, then nodes that are gone. */
	readonly nodes: readonly TimelineNode[];
	readonly rounds: readonly TimelineRound[];
	/** The ends of rounds, oldest first. */
	readonly incidents: readonly TimelineIncident[];
	/** How much was left out: the oldest of each kind, and the nodes that left first. */
	readonly dropped: {
		readonly nodes: number;
		readonly rounds: number;
		readonly incidents: number;
		/** Rows may lack what was before this time; null if they are complete. */
		readonly spansBefore: number | null;
	};
}

export interface TimelineNode {
	readonly nodeId: string;
	/** In order, without overlaps. What lies before the first was left out, or is unknown. */
	readonly spans: readonly Span[];
}

export interface TimelineRound {
	readonly round: number;
	readonly liftedAt: number;
	readonly endedAt: number | null;
	readonly cause: RoundCause["kind"];
	/** Why it began, in words. */
	readonly reason: string;
	readonly worldSize: number;
	readonly nodes: number;
}

/**
 * The time line of a run, from its history and its present state. Undefined before anything is known about the run.
 */
export function timelineOf(
	status: RunDocument | undefined,
	history: RunHistory | undefined,
): Timeline | undefined {
	if (status === undefined) return undefined;
	const told = history?.instances.find(
		({ instance }) => instance === status.instance,
	);
	const rounds = told?.rounds ?? [];
	const incidents = incidentsOf(rounds, status);
	const rows = rowsOf(status, rounds);
	const { outcome } = status;
	return {
		version: 1,
		instance: status.instance,
		from: told?.begunAt ?? status.instance,
		endedAt: outcome?.endedAt ?? told?.endedAt ?? null,
		outcome: outcome && { result: outcome.result, reason: outcome.reason },
		nodes: rows.nodes,
		rounds: rounds.slice(-MOST_ROUNDS).map(roundOf),
		incidents: incidents.slice(-MOST_INCIDENTS),
		dropped: {
			nodes: rows.droppedNodes,
			rounds: Math.max(0, rounds.length - MOST_ROUNDS),
			incidents: Math.max(0, incidents.length - MOST_INCIDENTS),
			spansBefore: rows.spansBefore,
		},
	};
}

interface Rows {
	readonly nodes: readonly TimelineNode[];
	readonly droppedNodes: number;
	readonly spansBefore: number | null;
}

/** Present nodes in the order of `status`; below them the others, the last one to leave first. */
function rowsOf(status: RunDocument, rounds: readonly RoundLine[]): Rows {
	const present = status.nodes.map(({ nodeId }) => nodeId);
	const all = new Set([
		...present,
		...rounds.flatMap(({ members }) => members),
	]);
	const mostSpans = Math.max(
		FEWEST_SPANS_OF_NODE,
		Math.floor(MOST_SPANS / Math.max(1, Math.min(all.size, MOST_NODES))),
	);
	// A round gives a node at least one span, so older rounds would be computed in vain.
	const spans = spansOfNodes(rounds.slice(-mostSpans), status);
	const whole = [...all].map((nodeId) => ({
		nodeId,
		spans: spans.get(nodeId) ?? [],
	}));
	const gone = whole
		.slice(present.length)
		.sort((left, right) => lastFrom(right) - lastFrom(left));
	const kept = [...whole.slice(0, present.length), ...gone].slice(
		0,
		MOST_NODES,
	);
	return {
		nodes: kept.map(({ nodeId, spans }) => ({
			nodeId,
			spans: spans.slice(-mostSpans),
		})),
		droppedNodes: all.size - kept.length,
		spansBefore: latestOf([
			rounds.length > mostSpans ? rounds.at(-mostSpans)?.begunAt : null,
			...kept.map(({ spans }) =>
				spans.length > mostSpans ? spans.at(-mostSpans)?.from : null,
			),
		]),
	};
}

function lastFrom({ spans }: TimelineNode): number {
	return spans.at(-1)?.from ?? 0;
}

function latestOf(
	times: readonly (number | null | undefined)[],
): number | null {
	return times.reduce<number | null>(
		(latest, time) => (time == null ? latest : Math.max(latest ?? time, time)),
		null,
	);
}

function roundOf(line: RoundLine): TimelineRound {
	return {
		round: line.round,
		liftedAt: line.liftedAt,
		endedAt: line.endedAt,
		cause: line.cause.kind,
		reason: line.cause.reason,
		worldSize: line.worldSize,
		nodes: line.members.length,
	};
}

/** At most this many nodes that came or went together are named. */
const MOST_NAMES = 8;

export interface TimelineIncident {
	readonly kind: Exclude<RoundCause["kind"], "start">;
	/** When its first sign was, in milliseconds since 1970; for a failure by the clock of its node. */
	readonly at: number;
	/** The round that it ended. */
	readonly round: number;
	/** In words: "rank 2 on node-a: exit code 1". */
	readonly reason: string;
	/** The failing worker's node, or the nodes that came or went. */
	readonly nodes: readonly string[];
	/** The failing worker's rank; null if none failed. */
	readonly rank: number | null;
	readonly pid: number | null;
	/** The likely meaning of the exit, and the worker's own message. */
	readonly hint: string | null;
	readonly message: string | null;
}

/** The end of each round of one start of a run, oldest first. */
function incidentsOf(
	rounds: readonly RoundLine[],
	{ lastIncident, outcome }: RunDocument,
): readonly TimelineIncident[] {
	const told = rounds.flatMap((line, index) => {
		const { cause, joined, left, begunAt, liftedAt } = line;
		const { kind, reason, root } = cause;
		if (kind === "start") return [];
		const round = rounds[index - 1]?.round ?? line.round - 1;
		const at = firstSignOf(line, rounds[index - 1]) ?? begunAt ?? liftedAt;
		if (root !== null) return [failure(kind, reason, root, at, round)];
		const nodes = kind === "scale-up" ? joined : left;
		return [incident(kind, at, round, reason, nodes)];
	});
	// The history gets this line only when the next round is lifted, or never.
	const open = [
		lastIncident === null
			? null
			: { ...lastIncident, at: lastIncident.at ?? lastIncident.root.timestamp },
		outcome?.root
			? {
					...{ root: outcome.root, reason: outcome.reason },
					...{ round: outcome.root.round, at: outcome.root.timestamp },
				}
			: null,
	];
	const known = new Set(rounds.map(({ cause }) => cause.root?.id));
	for (const each of open) {
		if (each === null || known.has(each.root.id)) continue;
		known.add(each.root.id);
		told.push(failure("failure", each.reason, each.root, each.at, each.round));
	}
	return told.sort((left, right) => left.at - right.at);
}

function incident(
	kind: TimelineIncident["kind"],
	at: number,
	round: number,
	reason: string,
	nodes: readonly string[],
): TimelineIncident {
	return {
		...{ kind, at, round, reason, nodes: nodes.slice(0, MOST_NAMES) },
		...{ rank: null, pid: null, hint: null, message: null },
	};
}

/** A failure never comes after it was noticed, even if its clock runs ahead. */
function failure(
	kind: TimelineIncident["kind"],
	reason: string,
	root: NonNullable<RoundCause["root"]>,
	noticedAt: number,
	round: number,
): TimelineIncident {
	const at = Math.min(root.timestamp, noticedAt);
	return {
		...incident(
			kind,
			at,
			round,
			reason,
			root.isUnattributed ? [] : [root.nodeId],
		),
		rank: root.rank,
		pid: root.pid,
		hint: root.hint ?? null,
		message: root.message ?? null,
	};
}
