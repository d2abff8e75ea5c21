import { optionWithDefault } from "../option.js";
import { parseWorkerCount } from "../parse/nodes.js";
import { parseDuration, parseName, parseSwitch } from "../parse/scalars.js";
import { parseSignals } from "../parse/signals.js";

export const WORKER_OPTIONS = {
	nprocPerNode: optionWithDefault({
		name: "nproc-per-node",
		group: "Workers",
		argument: "N|auto|cpu|gpu",
		forms: ["number"],
		defaultText: "1",
		help: "workers of this node; gpu: one for each visible device; auto: gpu where there is one, else cpu",
		parse: parseWorkerCount,
	}),
	role: optionWithDefault({
		name: "role",
		group: "Workers",
		argument: "NAME",
		defaultText: "default",
		help: "role of this node's workers",
		parse: parseName,
	}),
	noNode: optionWithDefault({
		name: "no-node",
		aliases: ["no-python"],
		group: "Workers",
		forms: ["boolean"],
		defaultText: "0",
		help: "run the command as it is (else .js .mjs .cjs .ts run under Node, .py under python3 -u)",
		parse: parseSwitch,
	}),
	noPythonPath: optionWithDefault({
		name: "no-python-path",
		group: "Workers",
		forms: ["boolean"],
		defaultText: "0",
		help: "leave PYTHONPATH of Python workers as it is (else the runtime library's place is appended)",
		parse: parseSwitch,
	}),
	shutdownTimeout: optionWithDefault({
		name: "shutdown-timeout",
		group: "Workers",
		argument: "TIME",
		forms: ["number"],
		defaultText: "30",
		help: "from SIGTERM to SIGKILL: seconds, or 500ms, 30s, 10m, 1h",
		parse: parseDuration,
	}),
	pauseTimeout: optionWithDefault({
		name: "pause-timeout",
		group: "Workers",
		argument: "TIME",
		forms: ["number"],
		defaultText: "60",
		help: "how long a worker may take to acknowledge a PAUSE",
		parse: parseDuration,
	}),
	signalsToHandle: optionWithDefault({
		name: "signals-to-handle",
		group: "Workers",
		argument: "LIST",
		forms: ["list"],
		defaultText: "SIGTERM,SIGINT,SIGHUP,SIGQUIT",
		help: "signals that make this node leave; a second one kills its workers at once",
		parse: parseSignals,
	}),
};
