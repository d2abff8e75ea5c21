import { isIP } from "node:net";
import {
	allOf,
	invalid,
	mapParsed,
	ok,
	type Parsed,
	parseName,
	problem,
	quote,
	wholeNumber,
} from "./scalars.js";

const MOST_WORKERS = 1024;

/** How many agents a round may have. */
export interface NodeRange {
	readonly min: number;
	readonly max: number;
}

const COUNTED = ["auto", "cpu", "gpu", "xpu"] as const;

/** Workers of one agent: a number, or the devices to count. */
export type WorkerCount = number | (typeof COUNTED)[number];

/** `N` or `MIN:MAX`. */
export function parseNodeRange(text: string): Parsed<NodeRange> {
	const [first = "", second = first, ...others] = text.split(":");
	const min = wholeNumber(first, 0);
	const max = wholeNumber(second, 0);
	if (min === undefined || max === undefined || others.length > 0) {
		return invalid(text, "N or MIN:MAX, for example 2 or 1:4");
	}
	if (min === 0) {
		return problem(
			`${quote(text)}: MIN must be at least 1; use ${max > 1 ? `1:${max}` : "1"}`,
		);
	}
	if (min > max) {
		return problem(
			`${quote(text)}: MIN is larger than MAX; use MIN:MAX, for example ${max === 0 ? 1 : max}:${min}`,
		);
	}
	return ok({ min, max });
}

export function parseWorkerCount(text: string): Parsed<WorkerCount> {
	const named = COUNTED.find((word) => word === text);
	if (named !== undefined) return ok(named);
	const count = wholeNumber(text, 1);
	if (count === undefined) {
		return invalid(
			text,
			`a whole number from 1 to ${MOST_WORKERS}, "auto", "cpu", "gpu" or "xpu"`,
		);
	}
	if (count > MOST_WORKERS) {
		return problem(
			`${count} workers exceed the limit of ${MOST_WORKERS} on one node; use a smaller number`,
		);
	}
	return ok(count);
}

const HOST_NAME =
	/^(?=.{1,253}$)[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9])?)*\.?$/;

/** Whether `text` can be a host's name or address (IPv6 without brackets). */
export function isHost(text: string): boolean {
	return isIP(text) !== 0 || (HOST_NAME.test(text) && !/^[\d.]+$/.test(text));
}

/** A host, with or without the brackets that a URL needs around an IPv6 address; returned without. */
export function parseLocalAddress(text: string): Parsed<string> {
	const address = /^\[(.*:.*)\]$/.exec(text)?.[1] ?? text;
	return isHost(address)
		? ok(address)
		: invalid(
				text,
				"a host name or an IP address, without port, for example 10.0.0.5",
			);
}

/** Names with commas or line breaks between them; returns each once, in alphabetical order. */
export function parseNames(text: string): Parsed<readonly string[]> {
	const parts = text.split(/[,\n]/).map((part) => parseName(part.trim()));
	return mapParsed(allOf(parts), (names) => [...new Set(names)].sort());
}
