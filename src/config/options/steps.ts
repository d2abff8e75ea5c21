import { messageOf } from "../../base/errors.js";
import { optionsOf, time } from "../option.js";
import {
	parseNotices,
	parseSomeTime,
	parseTerminationGrace,
} from "../parse/notices.js";
import {
	ok,
	oneOf,
	type Parsed,
	parseDuration,
	problem,
	quote,
} from "../parse/scalars.js";

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
function parseTimeOrAuto(text: string): Parsed<number | "auto"> {
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
		parse: parseTimeOrAuto,
	},
	startTimeout: {
		argument: "TIME|auto",
		forms: ["number"],
		defaultText: "auto",
		help: "how long the workers may take to their first step in a round; 0: as long as they want; auto: 30 min if they use torch.distributed",
		parse: parseTimeOrAuto,
	},
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

export const NOTICE_OPTIONS = optionsOf("Notices", {
	notices: {
		argument: "auto|off|LIST",
		forms: ["list"],
		defaultText: "auto",
		help: "who says that this machine will go: some of aws, gcp, azure, slurm, file:PATH; auto: as the machine and its environment say",
		parse: parseNotices,
	},
	onAdvice: {
		argument: "ACTION",
		defaultText: "log",
		help: "drain or log: what follows a recommendation, such as to rebalance",
		parse: oneOf("drain", "log"),
	},
	maxLifetime: {
		argument: "TIME",
		forms: ["number"],
		defaultHelp: "none",
		help: "how long this launcher lives: its node leaves in time, with exit code 75",
		parse: parseSomeTime,
	},
	drainBefore: time(
		"60",
		"how long before the end of its lifetime, or of its Slurm job, a node leaves",
	),
	terminationGrace: {
		argument: "TIME|auto",
		forms: ["number"],
		defaultText: "auto",
		help: "from the platform's SIGTERM to its SIGKILL: a SIGTERM is a notice with that deadline; auto: as the platform gives it, where that is known",
		parse: parseTerminationGrace,
	},
	deadline: {
		argument: "TIME",
		forms: ["number"],
		defaultHelp: "none",
		help: "how long the run may take, waiting included; then it is stopped and has failed",
		parse: parseSomeTime,
	},
});
