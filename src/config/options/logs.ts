import { optionsOf } from "../option.js";
import {
	DEFAULT_LOG_PREFIX,
	LOG_PREFIX_PLACEHOLDERS,
	parseLocalRanks,
	parseLogPrefix,
	parseStreamMap,
} from "../parse/logs.js";
import { oneOf, parseText } from "../parse/scalars.js";

export const LOG_OPTIONS = optionsOf("Logs and output", {
	logDir: {
		argument: "DIR",
		defaultHelp: "a new temporary one",
		help: "where the workers' logs go",
		parse: parseText,
	},
	redirects: {
		short: "r",
		argument: "MAP",
		forms: ["number", "map"],
		pairSign: ":",
		defaultText: "3",
		help: "streams that go to files: 0 none, 1 stdout, 2 stderr, 3 both, or by local rank 0:1,1:3",
		parse: parseStreamMap,
	},
	tee: {
		short: "t",
		argument: "MAP",
		forms: ["number", "map"],
		pairSign: ":",
		defaultText: "3",
		help: "streams that are also shown",
		parse: parseStreamMap,
	},
	logPrefix: {
		argument: "TEMPLATE",
		defaultText: DEFAULT_LOG_PREFIX,
		defaultHelp: JSON.stringify(DEFAULT_LOG_PREFIX),
		help: `before each line that is shown: ${LOG_PREFIX_PLACEHOLDERS}`,
		parse: parseLogPrefix,
	},
	localRanksFilter: {
		argument: "LIST",
		forms: ["number", "list"],
		defaultHelp: "all",
		help: "local ranks whose lines are shown, for example 0,2",
		parse: parseLocalRanks,
	},
	output: {
		argument: "text|json",
		defaultText: "text",
		help: "json: one object with the result on stdout; the workers' lines go to stderr",
		parse: oneOf("text", "json"),
	},
	logFormat: {
		argument: "pretty|json",
		defaultText: "pretty",
		help: "the launcher's own log, on stderr: text for people or JSON",
		parse: oneOf("pretty", "json"),
	},
});
