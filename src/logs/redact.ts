import type { LogDetails } from "../base/logger.js";

const SECRET_NAME =
	/pass(word|wd|phrase)?$|secret|token$|api_?key|access_?key|private_?key|credential|authorization|cookie/i;
/** The password of `scheme://user:password@host`. */
const USERINFO = /(\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*):[^\s/@]+@/gi;
const HIDDEN = "[redacted]";
/** Deeper values are left out: no intended detail nests so deep. */
const DEEPEST = 6;

/**
 * The details of a log line without secrets, which it finds by their names, and without passwords in addresses. Errors
 * keep message and stack.
 */
export function redact(details: LogDetails): Record<string, unknown> {
	return redactFields(details, 0);
}

/** A text without passwords in addresses. */
export function redactText(text: string): string {
	return text.replace(USERINFO, `$1:${HIDDEN}@`);
}

function redactFields(fields: object, depth: number): Record<string, unknown> {
	const entries = Object.entries(fields).map(([name, value]) => [
		name,
		SECRET_NAME.test(name) && value !== undefined && value !== null
			? HIDDEN
			: redactValue(value, depth + 1),
	]);
	return Object.fromEntries(entries);
}

function redactValue(value: unknown, depth: number): unknown {
	if (typeof value === "string") return redactText(value);
	if (typeof value === "bigint") return String(value);
	if (typeof value !== "object" || value === null) return value;
	if (depth > DEEPEST) return "[too deep]";
	if (Array.isArray(value)) {
		return value.map((element) => redactValue(element, depth + 1));
	}
	if (value instanceof Error) {
		return {
			message: redactText(value.message),
			stack: redactText(value.stack ?? ""),
			...redactFields(value, depth),
		};
	}
	return redactFields(value, depth);
}
