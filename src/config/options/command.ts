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
		help: "show what would be started, and start nothing: one worker, and the settings that are not the defaults, each with its origin",
		parse: parseSwitch,
	}),
	verbose: optionWithDefault({
		name: "verbose",
		short: "v",
		group: "Command",
		forms: ["boolean"],
		defaultText: "0",
		help: "with --dry-run: show all workers and all settings",
		parse: parseSwitch,
	}),
};
