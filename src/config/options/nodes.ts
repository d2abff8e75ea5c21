import { option, optionWithDefault } from "../option.js";
import { parseDuration, parseText } from "../parse/scalars.js";

export const NODE_OPTIONS = {
	preflightCommand: option({
		name: "preflight-command",
		group: "Nodes",
		argument: "CMD",
		defaultHelp: "none",
		help: "run by sh before this node joins: it joins only after exit code 0",
		parse: parseText,
	}),
	preflightTimeout: optionWithDefault({
		name: "preflight-timeout",
		group: "Nodes",
		argument: "TIME",
		forms: ["number"],
		defaultText: "60",
		help: "how long that command may take",
		parse: parseDuration,
	}),
	replaceNodeCommand: option({
		name: "replace-node-command",
		group: "Nodes",
		argument: "CMD",
		defaultHelp: "none",
		help: "run by sh, once, when a node is to be replaced, with its record as JSON on stdin",
		parse: parseText,
	}),
	replaceNodeTimeout: optionWithDefault({
		name: "replace-node-timeout",
		group: "Nodes",
		argument: "TIME",
		forms: ["number"],
		defaultText: "10m",
		help: "how long that command may take",
		parse: parseDuration,
	}),
};
