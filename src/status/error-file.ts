import { attempt } from "../base/attempt.js";
import { isObject } from "../base/shape.js";
import { HeldFile } from "../logs/index.js";
import type { WorkerError } from "./report.js";

/**
 * Parses a worker's error file: `{"message": "text"}`, or the form of torch's `@record`, `{"message": {"message": …,
 * "extraInfo": {"py_callstack": …}}}`. Undefined for anything else.
 */
export function parseErrorFile(text: string): WorkerError | undefined {
	const file = parseObject(text);
	const inner = file?.message;
	if (typeof inner === "string") return workerError(inner, file?.stack);
	if (!isObject(inner) || typeof inner.message !== "string") return undefined;
	const extra = isObject(inner.extraInfo) ? inner.extraInfo : {};
	return workerError(inner.message, extra.py_callstack ?? file?.stack);
}

function workerError(message: string, stack: unknown): WorkerError {
	const known = typeof stack === "string" && stack !== "";
	return known ? { message, stack } : { message };
}

function parseObject(text: string): Record<string, unknown> | undefined {
	const value: unknown = attempt(() => JSON.parse(text));
	return isObject(value) ? value : undefined;
}

const LARGEST_BYTES = 1024 * 1024;

/** Reads a worker's error file; undefined if it is missing, larger than 1 MiB or malformed. Never throws. */
export function readErrorFile(path: string): WorkerError | undefined {
	const section = new HeldFile(path).section(0, LARGEST_BYTES);
	if (section === undefined || section.size > LARGEST_BYTES) return undefined;
	return parseErrorFile(section.bytes.toString("utf8"));
}
