import { option, optionWithDefault } from "../option.js";
import { parsePolicy } from "../parse/policy.js";
import {
	parseEscalation,
	parseRestartDelay,
	parseRestartLimit,
} from "../parse/restarts.js";
import { parseRules } from "../parse/rules.js";
import { parseCount } from "../parse/scalars.js";

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
		argument: "N[/TIME]",
		forms: ["number"],
		defaultText: "3",
		help: "restarts before the run fails (soft: of a node, soft-replace: of a worker); 3/6h: in six hours",
		parse: parseRestartLimit,
	}),
	maxNodeRestarts: option({
		name: "max-node-restarts",
		group: "Restarts",
		argument: "N[/TIME]",
		forms: ["number"],
		defaultHelp: "no limit",
		help: "failures on one node; one more, and it leaves with 75 to be replaced",
		parse: parseRestartLimit,
	}),
	maxRoleRestarts: option({
		name: "max-role-restarts",
		group: "Restarts",
		argument: "N[/TIME]",
		forms: ["number"],
		defaultHelp: "no limit",
		help: "failures of one role; one more, and the run fails",
		parse: parseRestartLimit,
	}),
	escalate: option({
		name: "escalate",
		group: "Restarts",
		argument: "LIST",
		forms: ["list"],
		defaultHelp: "off",
		help: "of soft,hard,replace-node,fail-run: the next one follows if the one before brought no step forward",
		parse: parseEscalation,
	}),
	restartDelay: optionWithDefault({
		name: "restart-delay",
		group: "Restarts",
		argument: "MIN[:MAX]",
		forms: ["number"],
		defaultText: "0:30s",
		help: "wait before a restart: none for the first, then twice as long each time while nothing makes progress; 0: never",
		parse: parseRestartDelay,
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
};
