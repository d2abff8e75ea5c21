import { parseDuration } from "../../src/config/parse/scalars.js";
import type { Settings } from "../../src/config/settings.js";
import type { CommandName } from "./command-table.js";
import { FlagReader } from "./flag-reader.js";

/** The meaning of `--no-wait` and `--timeout TIME`. */
export interface Timeout {
	readonly isAwaited: boolean;
	/** In milliseconds; null if not given. */
	readonly timeoutMs: number | null;
}

/** Reads both flags, or says what is wrong with them. */
export function readTimeout(
	command: CommandName,
	flags: Settings,
): Timeout | { readonly problems: readonly string[] } {
	if (flags.has("no-wait")) return { isAwaited: false, timeoutMs: 0 };
	const reader = new FlagReader(command, flags);
	const timeoutMs = reader.read("timeout", parseDuration) ?? null;
	const { problems } = reader;
	return problems.length > 0 ? { problems } : { isAwaited: true, timeoutMs };
}
