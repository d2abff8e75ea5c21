import { option, optionWithDefault } from "../option.js";
import { parseSwitch, parseText } from "../parse/scalars.js";

export const COMMAND_OPTIONS = {
	config: option({
		name: "config",
		group: "Command",
		argument: "FILE",
		defaultHelp: "./elastic-run.yaml or .json, if there",
		help: "settings in YAML or JSON: the flags' names in camelCase",
		parse: parseText,
	}),
	dryRun: optionWithDefault({
		name: "dry-run",
		group: "Command",
		forms: ["boolean"],
		defaultText: "0",
		help: "show what would be started, with each setting's origin, and start nothing",
		parse: parseSwitch,
	}),
};
