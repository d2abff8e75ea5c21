import { parseDuration } from "../../src/config/parse/scalars.js";
import type { RunCommandName } from "./own-flags.js";

/** The meaning of `--no-wait` and `--timeout TIME`. */
export interface Timeout {
	readonly isAwaited: boolean;
	/** In milliseconds; null if not given. */
	readonly timeoutMs: number | null;
}

/** Reads both flags, or says what is wrong with them. */
export function readTimeout(
	command: RunCommandName,
	own: ReadonlyMap<string, string>,
): Timeout | { readonly problems: readonly string[] } {
	if (own.has("no-wait")) return { isAwaited: false, timeoutMs: 0 };
	const given = own.get("timeout");
	if (given === undefined) return { isAwaited: true, timeoutMs: null };
	const parsed = parseDuration(given);
	return "problems" in parsed
		? {
				problems: parsed.problems.map(
					(words) => `${command}: --timeout: ${words}`,
				),
			}
		: { isAwaited: true, timeoutMs: parsed.value };
}
