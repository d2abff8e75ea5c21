import { option, optionWithDefault } from "../option.js";
import { oneOf, parseDuration, parseText } from "../parse/scalars.js";

export const NODE_OPTIONS = {
	preflight: optionWithDefault({
		name: "preflight",
		group: "Nodes",
		argument: "quick|strict|off",
		defaultText: "off",
		help: "measure this node before it joins; strict: a slow or unreachable one does not join",
		parse: oneOf("quick", "strict", "off"),
	}),
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
