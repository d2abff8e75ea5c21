import { optionWithDefault } from "../option.js";
import { parsePolicy } from "../parse/policy.js";
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
	maxRestarts: optionWithDefault({
		name: "max-restarts",
		group: "Restarts",
		argument: "N",
		forms: ["number"],
		defaultText: "3",
		help: "restarts before the run fails (soft: of a node, soft-replace: of a worker)",
		parse: parseCount,
	}),
};
