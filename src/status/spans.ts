import type { RoundLine } from "./history.js";
import { firstSignOf } from "./round-times.js";
import type { NodeStatus, RunDocument } from "./run-document.js";

/** A node's activity during a span. */
export type NodePhase =
	/** It has no workers and waits for a round, or starts them. */
	| "joining"
	| "running"
	/** Its workers live on, and wait for the next round. */
	| "paused"
	/** It ends its workers, and will come back. */
	| "stopping"
	/** Its workers have all succeeded. */
	| "finished"
	/** It ends its workers, and leaves. */
	| "leaving"
	/** A round runs without it, and it would take part in the next. */
	| "spare"
	/** It was in the run, and its launcher is gone. */
	| "gone";

/** Times are milliseconds since 1970. */
export interface Span {
	readonly phase: NodePhase;
	/** The round that it was in, was leaving, or waited for. */
	readonly round: number;
	readonly from: number;
	/** Null if it continues. */
	readonly to: number | null;
}

/** What each node has done, by node id: the past from the history, the present from what the node says. */
export function spansOfNodes(
	rounds: readonly RoundLine[],
	run: RunDocument,
): ReadonlyMap<string, readonly Span[]> {
	const nodes = spansFromHistory(rounds, run);
	for (const node of run.nodes) {
		const spans = nodes.get(node.nodeId) ?? [];
		nodes.set(node.nodeId, withPresent(spans, node, run));
	}
	return nodes;
}

/**
 * The history's spans of each node, by node id: a member of a round ran in it, and had ended or paused its workers when
 * the last member had. It cannot tell nodes apart, and knows only members.
 * @param run its policy tells whether survivors keep their workers; with an outcome nothing continues
 */
function spansFromHistory(
	rounds: readonly RoundLine[],
	run: Pick<RunDocument, "policy" | "outcome">,
): Map<string, readonly Span[]> {
	const { policy } = run;
	const endedAt = run.outcome?.endedAt ?? null;
	const nodes = new Map<string, readonly Span[]>();
	const add = (nodeId: string, span: Span) => {
		const spans = [...(nodes.get(nodeId) ?? [])];
		const last = spans.at(-1);
		// The clocks of two nodes may contradict each other.
		const from = Math.max(span.from, last?.from ?? span.from);
		if (last !== undefined && (last.to === null || last.to > from)) {
			spans[spans.length - 1] = { ...last, to: from };
		}
		const to = span.to === null ? null : Math.max(from, span.to);
		if (to !== from) spans.push({ ...span, from, to });
		nodes.set(nodeId, spans);
	};
	for (const [index, line] of rounds.entries()) {
		for (const nodeId of line.members) {
			for (const span of spansOf(nodeId, line, policy, endedAt)) {
				add(nodeId, span);
			}
		}
		for (const nodeId of line.left) {
			// When each of them had gone is not known.
			const from =
				firstSignOf(line, rounds[index - 1]) ?? line.begunAt ?? line.liftedAt;
			add(nodeId, { phase: "gone", round: line.round, from, to: endedAt });
		}
	}
	return nodes;
}

/** A member's way into a round, and its time there. */
function spansOf(
	nodeId: string,
	line: RoundLine,
	policy: string | null,
	endedAt: number | null,
): readonly Span[] {
	const { round, liftedAt, cause } = line;
	const begunAt = line.begunAt ?? liftedAt;
	const startedAt = line.startedAt ?? liftedAt;
	const isNew = line.joined.includes(nodeId);
	const stoppedAt = isNew ? begunAt : (line.stoppedAt ?? begunAt);
	const pauses =
		!isNew &&
		policy !== null &&
		/^soft(-replace)?$/.test(policy) &&
		cause.root?.nodeId !== nodeId;
	const running: Span = {
		...{ phase: "running", round, from: startedAt },
		to: line.endedAt ?? endedAt,
	};
	if (pauses) {
		const left = round - 1;
		return [
			{ phase: "paused", round: left, from: begunAt, to: startedAt },
			running,
		];
	}
	return [
		{ phase: "stopping", round: round - 1, from: begunAt, to: stoppedAt },
		{ phase: "joining", round, from: stoppedAt, to: startedAt },
		running,
	];
}

/** A node's clock may be wrong: its present never begins before its past. */
function withPresent(
	spans: readonly Span[],
	node: NodeStatus,
	run: RunDocument,
): readonly Span[] {
	const phase = phaseOf(node, run);
	// A node that joins while no round runs waits for the next.
	const isAhead = phase === "joining" && run.phase !== "running";
	const round = isAhead ? run.round + 1 : run.round;
	const to = run.outcome?.endedAt ?? null;
	const before = spans.slice(0, -1);
	const last = spans.at(-1);
	if (last?.phase === phase && last.round === round) {
		return [...before, { ...last, to }];
	}
	const begun = node.since ?? last?.to ?? null;
	if (begun === null) return spans;
	const from = Math.max(begun, last?.from ?? begun);
	if (to !== null && from >= to) return spans;
	const isPast = last !== undefined && last.from < from;
	const past = isPast ? [...before, { ...last, to: from }] : before;
	return [...past, { phase, round, from, to }];
}

function phaseOf(
	{ state, part, workerPids }: NodeStatus,
	{ phase }: RunDocument,
): NodePhase {
	switch (state) {
		case "ready":
			if (workerPids.some((pid) => pid !== null)) return "paused";
			return part !== "member" && phase === "running" ? "spare" : "joining";
		case "joining":
			return "joining";
		default:
			return state;
	}
}
