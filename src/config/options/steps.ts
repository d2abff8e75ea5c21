import { optionWithDefault } from "../option.js";
import { oneOf, parseDuration } from "../parse/scalars.js";
import { parseHangTimeout, parseStepPattern } from "../parse/steps.js";

export const STEP_OPTIONS = {
	stepPattern: optionWithDefault({
		name: "step-pattern",
		group: "Steps",
		argument: "REGEX",
		defaultText: String.raw`\bstep[ =:]+(\d+)`,
		help: "how a worker's output names its step, if it does not report steps; any case",
		parse: parseStepPattern,
	}),
	hangTimeout: optionWithDefault({
		name: "hang-timeout",
		group: "Steps",
		argument: "TIME|auto",
		forms: ["number"],
		defaultText: "600",
		help: "a round hangs after so long without a step; 0: never; auto: 5 times the longest step, at least 60 s",
		parse: parseHangTimeout,
	}),
	startTimeout: optionWithDefault({
		name: "start-timeout",
		group: "Steps",
		argument: "TIME",
		forms: ["number"],
		defaultText: "0",
		help: "how long a worker may take to its first step, if workers here make steps; 0: as long as it wants",
		parse: parseDuration,
	}),
	onHang: optionWithDefault({
		name: "on-hang",
		group: "Steps",
		argument: "ACTION",
		defaultText: "restart",
		help: "restart, report or fail: what follows a hang, after its evidence is on disk",
		parse: oneOf("restart", "report", "fail"),
	}),
	evidenceTimeout: optionWithDefault({
		name: "evidence-timeout",
		group: "Steps",
		argument: "TIME",
		forms: ["number"],
		defaultText: "5",
		help: "how long taking evidence of a hang may hold up what follows",
		parse: parseDuration,
	}),
};
