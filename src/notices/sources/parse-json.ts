import { attempt } from "../../base/attempt.js";
import { isObject } from "../../base/shape.js";

/** A JSON object; undefined for anything else. */
export function objectIn(
	body: string,
): Readonly<Record<string, unknown>> | undefined {
	const value = jsonIn(body);
	return isObject(value) ? value : undefined;
}

/** Any JSON; undefined where there is none. */
export function jsonIn(body: string): unknown {
	return attempt(() => JSON.parse(body));
}

export function textIn(value: unknown): string | undefined {
	return typeof value === "string" && value !== "" ? value : undefined;
}

/** RFC 3339, as AWS and Google write times, and RFC 1123, as AWS and Azure do. */
const TIMES = [
	/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/i,
	/^([A-Z][a-z]{2}, )?\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d (GMT|UTC)$/,
];

/**
 * Milliseconds since 1970; undefined if it is no time. Date.parse alone takes nearly every text with a number for a time of
 * the past, at which the workers would be ended at once.
 */
export function timeIn(value: unknown): number | undefined {
	const isTime =
		typeof value === "string" && TIMES.some((form) => form.test(value));
	return isTime ? knownTime(Date.parse(value)) : undefined;
}

/** Undefined for none, and for the zero of languages whose time begins in the year 1. */
export function knownTime(time: number): number | undefined {
	return time >= 0 ? time : undefined;
}

/** A word from outside for a log line: short and without control characters. */
export function wordIn(value: unknown): string {
	const text = typeof value === "string" ? value : String(value);
	return text
		.replaceAll(/\p{Cc}/gu, " ")
		.trim()
		.slice(0, 200);
}
