import { messageOf } from "../../base/errors.js";
import { optionsOf, time } from "../option.js";
import { ok, type Parsed, problem, quote } from "../parse/parsed.js";
import { oneOf, parseDuration } from "../parse/scalars.js";

/** A regular expression whose first group is the step number. */
function parseStepPattern(text: string): Parsed<RegExp> {
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
function parseHangTimeout(text: string): Parsed<number | "auto"> {
	return text === "auto" ? ok("auto") : parseDuration(text);
}

export const STEP_OPTIONS = optionsOf("Steps", {
	stepPattern: {
		argument: "REGEX",
		defaultText: String.raw`\bstep[ =:]+(\d+)`,
		help: "how a worker's output names its step, if it does not report steps; any case",
		parse: parseStepPattern,
	},
	hangTimeout: {
		argument: "TIME|auto",
		forms: ["number"],
		defaultText: "600",
		help: "a round hangs after so long without a step; 0: never; auto: 5 times the longest step, at least 60 s",
		parse: parseHangTimeout,
	},
	startTimeout: time(
		"0",
		"how long a worker may take to its first step, if workers here make steps; 0: as long as it wants",
	),
	onHang: {
		argument: "ACTION",
		defaultText: "restart",
		help: "restart, report or fail: what follows a hang, after its evidence is on disk",
		parse: oneOf("restart", "report", "fail"),
	},
	evidenceTimeout: time(
		"5",
		"how long taking evidence of a hang may hold up what follows",
	),
});
