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

/**
 * The first spans, with the second ones filling gaps between and before them. A gap that the second ones do not fill
 * extends the span before it. Both are in order and without overlaps.
 */
export function fillGaps(
	spans: readonly Span[],
	others: readonly Span[],
): readonly Span[] {
	const [first] = spans;
	if (first === undefined) return joined(others);
	const filled = [...between(others, Number.NEGATIVE_INFINITY, first.from)];
	for (const [index, span] of spans.entries()) {
		filled.push(span);
		const next = spans[index + 1];
		if (span.to === null || next === undefined) continue;
		filled.push(...between(others, span.to, next.from));
	}
	return joined(filled);
}

/** A time in which a node was gone although it seemed present. */
export interface Absence {
	readonly round: number;
	readonly from: number;
	readonly to: number;
}

/** Spans in which a node is gone as soon as it was, if it was observed then. */
export function withAbsence(
	spans: readonly Span[],
	{ round, from, to }: Absence,
): readonly Span[] {
	const [first] = spans;
	if (first === undefined || first.from >= to) return spans;
	const gone: Span = { phase: "gone", round, from, to };
	return joined([
		...between(spans, Number.NEGATIVE_INFINITY, from),
		gone,
		...spans
			.filter((span) => span.to === null || span.to > to)
			.map((span) => ({ ...span, from: Math.max(span.from, to) })),
	]);
}

/** The parts of spans that lie between two times. */
function between(
	spans: readonly Span[],
	from: number,
	to: number,
): readonly Span[] {
	return spans
		.map((span) => ({
			...span,
			from: Math.max(span.from, from),
			to: Math.min(span.to ?? to, to),
		}))
		.filter((span) => span.to > span.from);
}

/** No gaps, no empty spans, and no two in a row with the same phase and round. */
function joined(spans: readonly Span[]): readonly Span[] {
	const result: Span[] = [];
	for (const span of spans) {
		let last = result.pop();
		if (last !== undefined && last.from >= span.from) last = result.pop();
		if (last?.phase === span.phase && last.round === span.round) {
			result.push({ ...last, to: span.to });
			continue;
		}
		if (last !== undefined) result.push({ ...last, to: span.from });
		result.push(span);
	}
	return result;
}
