import { optionsOf } from "../option.js";
import { parseDuration, parseText } from "../parse/scalars.js";

export const NODE_OPTIONS = optionsOf("Nodes", {
	preflightCommand: {
		argument: "CMD",
		defaultHelp: "none",
		help: "run by sh before this node joins: it joins only after exit code 0",
		parse: parseText,
	},
	preflightTimeout: {
		argument: "TIME",
		forms: ["number"],
		defaultText: "60",
		help: "how long that command may take",
		parse: parseDuration,
	},
	replaceNodeCommand: {
		argument: "CMD",
		defaultHelp: "none",
		help: "run by sh, once, when a node is to be replaced, with its record as JSON on stdin",
		parse: parseText,
	},
	replaceNodeTimeout: {
		argument: "TIME",
		forms: ["number"],
		defaultText: "10m",
		help: "how long that command may take",
		parse: parseDuration,
	},
});
