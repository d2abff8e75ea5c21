import { messageOf } from "../../base/errors.js";
import { ok, type Parsed, problem, quote } from "./parsed.js";
import { parseDuration } from "./scalars.js";

/** A regular expression whose first group is the step number. */
export function parseStepPattern(text: string): Parsed<RegExp> {
	try {
		const pattern = new RegExp(text, "gi");
		// Beside an empty alternative, every pattern matches, with all its groups.
		const groups = new RegExp(`${text}|`).exec("")?.length ?? 1;
		return groups > 1
			? ok(pattern)
			: problem(
					`${quote(text)} has no group for the number; use for example ${String.raw`step (\d+)`}`,
				);
	} catch (error) {
		return problem(
			`${quote(text)} is no regular expression: ${messageOf(error)}`,
		);
	}
}

/** In milliseconds; 0: never. */
export function parseHangTimeout(text: string): Parsed<number | "auto"> {
	return text === "auto" ? ok("auto") : parseDuration(text);
}
