import { didYouMean } from "../../base/nearest-name.js";
import type { RestartLimit } from "../../model/index.js";
import { RestartPolicy } from "../../policies/index.js";
import {
	invalid,
	ok,
	type Parsed,
	parseDuration,
	problem,
	quote,
	wholeNumber,
} from "./scalars.js";

const BUILT_IN: readonly RestartPolicy[] = Object.values(RestartPolicy);

/** A built-in policy, or the file of the user's own. */
export type PolicyChoice =
	| { readonly name: RestartPolicy }
	| { readonly file: string };

/** A word is a policy's name; a path or a module's file name is a file. */
export function parsePolicy(text: string): Parsed<PolicyChoice> {
	const name = BUILT_IN.find((known) => known === text);
	if (name !== undefined) return ok({ name });
	if (/[/\\]|\.[cm]?[jt]s$/.test(text)) return ok({ file: text });
	return problem(
		`${quote(text)} is unknown; use hard, soft, soft-replace or the path of a module${didYouMean(text, BUILT_IN)}`,
	);
}

/** `3`, or `3/6h`: so many restarts, of which only those in the window count. */
export function parseRestartLimit(text: string): Parsed<RestartLimit> {
	const [count = "", window, ...rest] = text.split("/");
	const restarts = wholeNumber(count, 0);
	if (restarts === undefined || restarts > MOST || rest.length > 0) {
		return invalid(text, WORDS);
	}
	if (window === undefined) return ok({ restarts, windowMs: 0 });
	const parsed = parseDuration(window);
	if ("problems" in parsed) return parsed;
	return parsed.value > 0
		? ok({ restarts, windowMs: parsed.value })
		: invalid(text, WORDS);
}

/** Milliseconds. */
export interface RestartDelay {
	readonly leastMs: number;
	/** 0: no delay. */
	readonly mostMs: number;
}

/** `0:30s`; without the second it is always the first. */
export function parseRestartDelay(text: string): Parsed<RestartDelay> {
	const [least = "", most = least, ...rest] = text.split(":");
	const from = parseDuration(least);
	const to = parseDuration(most);
	if ("problems" in from) return from;
	if ("problems" in to) return to;
	return rest.length > 0 || from.value > to.value
		? invalid(text, "the least and the longest delay, for example 0:30s")
		: ok({ leastMs: from.value, mostMs: to.value });
}

/** As many times may be kept in the store. */
const MOST = 999_999_999;
const WORDS = "a number of restarts, or one in a time, for example 3 or 3/6h";
