import { ok, type Parsed, problem, quote } from "./parsed.js";
import { parseDuration } from "./scalars.js";

const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/;

/** A duration from now, or an ISO time; returns milliseconds since 1970. `wallTime`: now. */
export function parseDeadline(
	wallTime: number,
): (text: string) => Parsed<number> {
	return (text) => {
		const duration = parseDuration(text);
		if ("value" in duration) return ok(Math.round(wallTime) + duration.value);
		const at = ISO_TIME.test(text) ? Date.parse(text) : Number.NaN;
		if (Number.isNaN(at)) {
			return problem(
				`${quote(text)} is neither a duration (90, 10m, 2h) nor an ISO time (2026-11-26T12:00:00Z)`,
			);
		}
		// A slip of the year must not end a node at once.
		return at < wallTime
			? problem(`${quote(text)} is over: use a later time, or 0 for now`)
			: ok(at);
	};
}
