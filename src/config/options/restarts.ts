import { onOff, optionsOf, time } from "../option.js";
import { parseNames } from "../parse/nodes.js";
import {
	parsePolicy,
	parseRestartDelay,
	parseRestartLimit,
} from "../parse/restarts.js";
import { parseRules } from "../parse/rules.js";
import {
	oneOf,
	parseCount,
	parseExitCode,
	parseText,
} from "../parse/scalars.js";

export const RESTART_OPTIONS = optionsOf("Restarts", {
	restartPolicy: {
		argument: "NAME|FILE",
		defaultText: "hard",
		help: "hard, soft, soft-replace, or a module that exports a RestartPolicyStrategy",
		parse: parsePolicy,
	},
	rule: {
		aliases: ["rules"],
		argument: "MATCH => ACTION",
		forms: ["lines"],
		repeats: true,
		defaultHelp: "none",
		help: "what follows a failure, asked before the policy; may be given several times, the first match decides",
		parse: parseRules,
	},
	maxRestarts: {
		argument: "N[/TIME]",
		forms: ["number"],
		defaultText: "3",
		help: "restarts before the run fails (soft: of a node, soft-replace: of a worker); 3/6h: in six hours",
		parse: parseRestartLimit,
	},
	maxNodeRestarts: {
		argument: "N[/TIME]",
		forms: ["number"],
		defaultHelp: "no limit",
		help: "failures on one node; one more, and it leaves with 75 to be replaced",
		parse: parseRestartLimit,
	},
	maxRoleRestarts: {
		argument: "N[/TIME]",
		forms: ["number"],
		defaultHelp: "no limit",
		help: "failures of this role; one more, and the run fails",
		parse: parseRestartLimit,
	},
	maxPreemptions: {
		argument: "N[/TIME]",
		forms: ["number"],
		defaultHelp: "no limit",
		help: "how often the run may lose machines, announced or not; once more, and it fails",
		parse: parseRestartLimit,
	},
	restartDelay: {
		argument: "MIN[:MAX]",
		forms: ["number"],
		defaultText: "0:30s",
		help: "wait before a restart: none for the first, then twice as long each time while nothing makes progress; 0: never",
		parse: parseRestartDelay,
	},
	maxIdenticalFailures: {
		argument: "N",
		forms: ["number"],
		defaultText: "3",
		help: "so many same failures in a row, and no step beyond the furthest one, end the run; 0: never",
		parse: parseCount,
	},
	restartStrategy: {
		argument: "NAME",
		defaultText: "in-place",
		help: "in-place, or recreate: instead of a restart this agent ends, for its supervisor to start it again",
		parse: oneOf("in-place", "recreate"),
	},
	exitCodeReplace: {
		argument: "N",
		forms: ["number"],
		defaultText: "75",
		help: "exit code of an agent whose node should be replaced",
		parse: parseExitCode,
	},
	exitCodeRestart: {
		argument: "N",
		forms: ["number"],
		defaultText: "76",
		help: "exit code of an agent that should be started again",
		parse: parseExitCode,
	},
	propagateExitCode: onOff(
		"a failed run exits with the exit code of its root cause instead of 1",
	),
	failoverScope: {
		argument: "run|role",
		defaultText: "run",
		help: "what restarts when a worker of this role fails: all workers of the run, or those of the role",
		parse: oneOf("run", "role"),
	},
	driverRole: {
		argument: "NAME,…",
		forms: ["list"],
		repeats: true,
		defaultHelp: "none: all workers",
		help: "the run succeeds when the workers of this role have; may be given several times",
		parse: parseNames,
	},
});

export const NODE_OPTIONS = optionsOf("Nodes", {
	preflightCommand: {
		argument: "CMD",
		defaultHelp: "none",
		help: "run by sh before this node joins: it joins only after exit code 0",
		parse: parseText,
	},
	preflightTimeout: time("60", "how long that command may take"),
	replaceNodeCommand: {
		argument: "CMD",
		defaultHelp: "none",
		help: "run by sh, once, when a node is to be replaced, with its record as JSON on stdin",
		parse: parseText,
	},
	replaceNodeTimeout: time("10m", "how long that command may take"),
});
