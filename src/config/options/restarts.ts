import { option, optionWithDefault } from "../option.js";
import { parsePolicy } from "../parse/policy.js";
import { parseRules } from "../parse/rules.js";
import {
	oneOf,
	parseCount,
	parseExitCode,
	parseSwitch,
} from "../parse/scalars.js";

export const RESTART_OPTIONS = {
	restartPolicy: optionWithDefault({
		name: "restart-policy",
		group: "Restarts",
		argument: "NAME|FILE",
		defaultText: "hard",
		help: "hard, soft, soft-replace, or a module that exports a RestartPolicyStrategy",
		parse: parsePolicy,
	}),
	rule: option({
		name: "rule",
		aliases: ["rules"],
		group: "Restarts",
		argument: "MATCH => ACTION",
		forms: ["lines"],
		repeats: true,
		defaultHelp: "none",
		help: "what follows a failure, asked before the policy; may be given several times, the first match decides",
		parse: parseRules,
	}),
	maxRestarts: optionWithDefault({
		name: "max-restarts",
		group: "Restarts",
		argument: "N",
		forms: ["number"],
		defaultText: "3",
		help: "restarts before the run fails (soft: of a node, soft-replace: of a worker)",
		parse: parseCount,
	}),
	maxIdenticalFailures: optionWithDefault({
		name: "max-identical-failures",
		group: "Restarts",
		argument: "N",
		forms: ["number"],
		defaultText: "3",
		help: "so many same failures in a row, and no step beyond the furthest one, end the run; 0: never",
		parse: parseCount,
	}),
	restartStrategy: optionWithDefault({
		name: "restart-strategy",
		group: "Restarts",
		argument: "NAME",
		defaultText: "in-place",
		help: "in-place, or recreate: instead of a restart this agent ends, for its supervisor to start it anew",
		parse: oneOf("in-place", "recreate"),
	}),
	exitCodeReplace: optionWithDefault({
		name: "exit-code-replace",
		group: "Restarts",
		argument: "N",
		forms: ["number"],
		defaultText: "75",
		help: "exit code of an agent whose node should be replaced",
		parse: parseExitCode,
	}),
	exitCodeRestart: optionWithDefault({
		name: "exit-code-restart",
		group: "Restarts",
		argument: "N",
		forms: ["number"],
		defaultText: "76",
		help: "exit code of an agent that should be started anew",
		parse: parseExitCode,
	}),
	propagateExitCode: optionWithDefault({
		name: "propagate-exit-code",
		group: "Restarts",
		forms: ["boolean"],
		defaultText: "0",
		help: "a failed run exits with the exit code of its root cause instead of 1",
		parse: parseSwitch,
	}),
};
