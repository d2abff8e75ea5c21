import { option, optionWithDefault } from "../option.js";
import { parseNames } from "../parse/names.js";
import { oneOf } from "../parse/scalars.js";

export const ROLE_OPTIONS = {
	failoverScope: optionWithDefault({
		name: "failover-scope",
		group: "Restarts",
		argument: "run|role",
		defaultText: "run",
		help: "what restarts when a worker fails: all workers, or those of its role",
		parse: oneOf("run", "role"),
	}),
	driverRole: option({
		name: "driver-role",
		group: "Restarts",
		argument: "NAME,…",
		forms: ["list"],
		repeats: true,
		defaultHelp: "none: all workers",
		help: "the run succeeds when the workers of this role have; may be given several times",
		parse: parseNames,
	}),
};
