import { optionsOf, time } from "../option.js";
import { parseText } from "../parse/scalars.js";

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
