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
	try {
		return JSON.parse(body);
	} catch {
		return undefined;
	}
}

export function textIn(value: unknown): string | undefined {
	return typeof value === "string" && value !== "" ? value : undefined;
}

/** Milliseconds since 1970; undefined if it is no time. */
export function timeIn(value: unknown): number | undefined {
	const time = typeof value === "string" ? Date.parse(value) : Number.NaN;
	return Number.isNaN(time) ? undefined : time;
}

/** A word from outside for a log line: short and without control characters. */
export function wordIn(value: unknown): string {
	const text = typeof value === "string" ? value : String(value);
	return text
		.replaceAll(/\p{Cc}/gu, " ")
		.trim()
		.slice(0, 200);
}
