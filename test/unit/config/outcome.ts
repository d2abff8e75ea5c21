import type { Parsed } from "../../../src/config/parse/scalars.js";

/** The value, or the problems as one text. */
export function outcome<T>(parsed: Parsed<T>): T | string {
	return "value" in parsed ? parsed.value : parsed.problems.join(" / ");
}
