import type { RoundLine } from "../../rendezvous/describe-history.js";
import type { RunStatus } from "../../rendezvous/run-status.js";
import type { Span } from "./spans.js";

/**
 * What a run's history says of each node, by node id: who was a member of a
 * round ran in it, and had ended its workers, or paused them, when the last one
 * had. It knows no difference between the nodes, and nothing of those that never
 * were members.
 * @param run by its policy survivors keep their workers or do not; by its outcome nothing goes on
 */
export function spansFromHistory(
	rounds: readonly RoundLine[],
	run: Pick<RunStatus, "policy" | "outcome">,
): ReadonlyMap<string, readonly Span[]> {
	const { policy } = run;
	const endedAt = run.outcome?.endedAt ?? null;
	const nodes = new Map<string, Span[]>();
	const add = (nodeId: string, span: Span) => {
		const spans = nodes.get(nodeId) ?? [];
		const last = spans.at(-1);
		// Clocks of two nodes may contradict each other.
		const from = Math.max(span.from, last?.from ?? span.from);
		if (last !== undefined && (last.to === null || last.to > from)) {
			spans[spans.length - 1] = { ...last, to: from };
		}
		const to = span.to === null ? null : Math.max(from, span.to);
		if (to !== from) spans.push({ ...span, from, to });
		nodes.set(nodeId, spans);
	};
	for (const line of rounds) {
		for (const nodeId of line.members) {
			for (const span of spansOf(nodeId, line, policy, endedAt)) {
				add(nodeId, span);
			}
		}
		for (const nodeId of line.left) {
			const from = line.begunAt ?? line.liftedAt;
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
