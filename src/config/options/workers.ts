import { onOff, optionsOf, time } from "../option.js";
import { parseWorkerCount } from "../parse/nodes.js";
import { oneOf, parseName, parseStdin } from "../parse/scalars.js";
import { parseAnySignal, parseSignals } from "../parse/signals.js";

export const WORKER_OPTIONS = optionsOf("Workers", {
	nprocPerNode: {
		argument: "N|auto|cpu|gpu",
		forms: ["number"],
		defaultText: "1",
		help: "workers of this node; gpu: one for each visible device; auto: gpu where there is one, else cpu",
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
	noHook: onOff(
		"start workers without the hook that counts optimizer steps and tells their stacks",
	),
	warm: {
		argument: "WHEN",
		defaultText: "off",
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
