import { option, optionWithDefault } from "../option.js";
import {
	DEFAULT_LOG_PREFIX,
	LOG_PREFIX_PLACEHOLDERS,
	parseLogPrefix,
} from "../parse/log-prefix.js";
import { oneOf, parseText } from "../parse/scalars.js";
import { parseLocalRanks, parseStreamMap } from "../parse/streams.js";

export const LOG_OPTIONS = {
	logDir: option({
		name: "log-dir",
		group: "Logs and output",
		argument: "DIR",
		defaultHelp: "a new temporary one",
		help: "where the workers' logs go",
		parse: parseText,
	}),
	redirects: optionWithDefault({
		name: "redirects",
		short: "r",
		group: "Logs and output",
		argument: "MAP",
		forms: ["number", "map"],
		pairSign: ":",
		defaultText: "3",
		help: "streams that go to files: 0 none, 1 stdout, 2 stderr, 3 both, or by local rank 0:1,1:3",
		parse: parseStreamMap,
	}),
	tee: optionWithDefault({
		name: "tee",
		short: "t",
		group: "Logs and output",
		argument: "MAP",
		forms: ["number", "map"],
		pairSign: ":",
		defaultText: "3",
		help: "streams that are also shown",
		parse: parseStreamMap,
	}),
	logPrefix: optionWithDefault({
		name: "log-prefix",
		group: "Logs and output",
		argument: "TEMPLATE",
		defaultText: DEFAULT_LOG_PREFIX,
		defaultHelp: JSON.stringify(DEFAULT_LOG_PREFIX),
		help: `before each line that is shown: ${LOG_PREFIX_PLACEHOLDERS}`,
		parse: parseLogPrefix,
	}),
	localRanksFilter: option({
		name: "local-ranks-filter",
		group: "Logs and output",
		argument: "LIST",
		forms: ["number", "list"],
		defaultHelp: "all",
		help: "local ranks whose lines are shown, for example 0,2",
		parse: parseLocalRanks,
	}),
	output: optionWithDefault({
		name: "output",
		group: "Logs and output",
		argument: "text|json",
		defaultText: "text",
		help: "json: one object with the result on stdout; the workers' lines go to stderr",
		parse: oneOf("text", "json"),
	}),
	logFormat: optionWithDefault({
		name: "log-format",
		group: "Logs and output",
		argument: "pretty|json",
		defaultText: "pretty",
		help: "the launcher's own log, on stderr: text for people or JSON",
		parse: oneOf("pretty", "json"),
	}),
};
