import type { RoundLine } from "../rendezvous/describe/describe-history.js";
import { firstSignOf } from "../rendezvous/describe/measure-history.js";
import type { RunStatus } from "../rendezvous/describe/run-status.js";
import type { Absence, Span } from "./spans.js";

/**
 * The history's spans of each node, by node id: a member of a round ran in it, and had ended or paused its workers when
 * the last member had. It cannot tell nodes apart, and knows only members.
 * @param run its policy tells whether survivors keep their workers; with an outcome nothing continues
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
			const from = absenceIn(line, rounds[index - 1]).from;
			add(nodeId, { phase: "gone", round: line.round, from, to: endedAt });
		}
	}
	return nodes;
}

/** When nodes had gone that still seemed to be there, by node id. */
export function absencesOf(
	rounds: readonly RoundLine[],
): ReadonlyMap<string, readonly Absence[]> {
	const absences = new Map<string, Absence[]>();
	for (const [index, line] of rounds.entries()) {
		const absence = absenceIn(line, rounds[index - 1]);
		if (absence.from === absence.to) continue;
		for (const nodeId of line.left) {
			absences.set(nodeId, [...(absences.get(nodeId) ?? []), absence]);
		}
	}
	return absences;
}

/** From the first sign that members were missing until that was seen: it is not known for each of them. */
function absenceIn(line: RoundLine, before?: RoundLine): Absence {
	const to = line.begunAt ?? line.liftedAt;
	const from = firstSignOf(line, before) ?? to;
	return { round: line.round, from, to };
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
