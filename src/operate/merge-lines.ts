import type { LogLine } from "./log-source.js";

/** A source of lines in order; their times never decrease. */
export interface LineSource {
	/** None of its lines is older. */
	readonly bornAt: number;
	/** Decides the order of lines with the same time. */
	readonly path: string;
	peek(isLast: boolean): LogLine | undefined;
	advance(): void;
}

/**
 * The present lines of all sources by time; those of one source stay in order. A source is not read before its time.
 * @param isLast whether an unfinished last line counts
 */
export function* mergeLines(
	sources: readonly LineSource[],
	isLast: boolean,
): Generator<LogLine> {
	const waiting = [...sources].sort(
		(left, right) =>
			left.bornAt - right.bornAt || compareTexts(left.path, right.path),
	);
	const ready: { readonly source: LineSource; readonly line: LogLine }[] = [];
	/** Inserts after all that are not later; a continuation of the line just taken goes before those of the same time. */
	const queue = (source: LineSource, goesOn: boolean) => {
		const line = source.peek(isLast);
		if (line === undefined) return;
		let low = 0;
		let high = ready.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			const { time = line.time } = ready[middle]?.line ?? {};
			if (goesOn ? time < line.time : time <= line.time) low = middle + 1;
			else high = middle;
		}
		ready.splice(low, 0, { source, line });
	};
	for (;;) {
		for (
			let next = waiting[0];
			next && (ready[0] === undefined || next.bornAt <= ready[0].line.time);
			next = waiting[0]
		) {
			waiting.shift();
			queue(next, false);
		}
		const first = ready.shift();
		if (first === undefined) return;
		yield first.line;
		first.source.advance();
		queue(first.source, true);
	}
}

function compareTexts(left: string, right: string): number {
	if (left === right) return 0;
	return left < right ? -1 : 1;
}
