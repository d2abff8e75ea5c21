import { onOff, optionsOf, time } from "../option.js";
import { parseHttpAddress } from "../parse/endpoints.js";
import {
	DEFAULT_LOG_PREFIX,
	LOG_PREFIX_PLACEHOLDERS,
	parseLocalRanks,
	parseLogPrefix,
	parseStreamMap,
} from "../parse/logs.js";
import { parseWorkerCount } from "../parse/nodes.js";
import {
	oneOf,
	parseCount,
	parseName,
	parseStdin,
	parseText,
} from "../parse/scalars.js";
import { parseAnySignal, parseSignals } from "../parse/signals.js";

export const WORKER_OPTIONS = optionsOf("Workers", {
	nprocPerNode: {
		argument: "N|auto|cpu|gpu",
		forms: ["number"],
		defaultText: "1",
		help: "workers of this node; gpu, xpu: one for each visible device; auto: gpu where there is one, else cpu",
		parse: parseWorkerCount,
	},
	role: {
		argument: "NAME",
		defaultText: "default",
		help: "role of this node's workers",
		parse: parseName,
	},
	noNode: onOff(
		"run the command as it is (else .js .mjs .cjs .ts run under Node, .py under python3 -u)",
		{ aliases: ["no-python"] },
	),
	module: onOff("what follows is a Python module: run python3 -u -m MODULE", {
		short: "m",
	}),
	noPythonPath: onOff(
		"do not append the runtime library's place to PYTHONPATH of Python workers",
	),
	virtualLocalRank: onOff(
		"each worker sees its own GPU alone, as device 0, and LOCAL_RANK=0",
	),
	noHook: onOff(
		"start workers without the hook that counts optimizer steps and tells their stacks",
	),
	warm: {
		argument: "WHEN",
		defaultHelp: "auto for Python with imports of a second or more, else off",
		help: "auto: restarted Python workers are forked from a process that has their imports, and Node workers are started ahead; off",
		parse: oneOf("auto", "off"),
	},
	stdin: {
		argument: "RANK|none",
		forms: ["number"],
		defaultHelp: "0 for one worker on a terminal or a pipe, else none",
		help: "local rank of the worker that reads the launcher's stdin",
		parse: parseStdin,
	},
	shutdownTimeout: time(
		"30",
		"from SIGTERM to SIGKILL: seconds, or 500ms, 30s, 10m, 1h",
	),
	exitTimeout: time(
		"15",
		"how long a worker may take to end after its uncaught exception; 0: as long as it wants",
	),
	stuckTimeout: time(
		"3",
		"how long after SIGTERM a worker lives that waits for a dead one, if it is not busy; 0: as long as any other",
	),
	pauseTimeout: time(
		"60",
		"how long a worker may take to leave its round after a PAUSE",
	),
	noticeSignal: {
		argument: "SIGNAL",
		defaultHelp: "none",
		help: "also sent to the workers when their machine is about to go",
		parse: parseAnySignal,
	},
	signalsToHandle: {
		argument: "LIST",
		forms: ["list"],
		defaultText: "SIGTERM,SIGINT,SIGHUP,SIGQUIT",
		help: "signals that make this node leave; a second one kills its workers at once",
		parse: parseSignals,
	},
});

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

export const LOG_OPTIONS = optionsOf("Logs and output", {
	logDir: {
		argument: "DIR",
		defaultHelp: "a new temporary one",
		help: "where the workers' logs go",
		parse: parseText,
	},
	keepLogs: {
		argument: "N",
		forms: ["number"],
		defaultHelp: "all",
		help: "how many earlier starts of the run keep their logs below --log-dir",
		parse: parseCount,
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
		aliases: ["log-line-prefix-template"],
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
