import { onOff, optionsOf } from "../option.js";
import { parseHttpAddress } from "../parse/endpoints.js";
import { parseText } from "../parse/scalars.js";

export const HTTP_OPTIONS = optionsOf("Observability", {
	http: {
		argument: "ADDR",
		defaultHelp: "off",
		help: "page, status and metrics of this node at HOST:PORT, or :PORT for this machine alone; port 0: a free one",
		parse: parseHttpAddress,
	},
	httpTokenFile: {
		argument: "PATH",
		defaultHelp: "none",
		help: "file with the token that --http asks for; needed beyond this machine, and to stop a run or leave it",
		parse: parseText,
	},
});

export const COMMAND_OPTIONS = optionsOf("Command", {
	config: {
		argument: "FILE",
		defaultHelp: "./elastic-run.yaml or .json, if there",
		help: "settings in YAML or JSON: the flags' names in camelCase",
		parse: parseText,
	},
	dryRun: onOff(
		"show what would be started, and start nothing: one worker, and the settings that are not the defaults, each with its origin",
	),
	verbose: onOff("with --dry-run: show all workers and all settings", {
		short: "v",
	}),
});
