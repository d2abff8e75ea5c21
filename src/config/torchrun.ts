import type { Option } from "./option.js";
import { ALL_OPTIONS } from "./options.js";
import type { Environment, EnvironmentReading, Setting } from "./settings.js";

const PREFIX = "PET_";

/** The flags of torchrun that exist here, by torchrun's names. */
const FLAGS = [
	...["nnodes", "nproc-per-node", "role", "module", "no-python"],
	...["rdzv-backend", "rdzv-endpoint", "rdzv-id", "rdzv-conf", "standalone"],
	...["node-rank", "master-addr", "master-port", "local-addr"],
	...["max-restarts", "signals-to-handle", "shutdown-timeout"],
	...["log-dir", "redirects", "tee", "local-ranks-filter"],
];

const OPTION_OF = new Map(
	FLAGS.flatMap((flag): [string, Option<unknown>][] => {
		const option = ALL_OPTIONS.find(
			({ name, aliases }) => name === flag || aliases.includes(flag),
		);
		const variable = PREFIX + flag.replaceAll("-", "_").toUpperCase();
		return option === undefined ? [] : [[variable, option]];
	}),
);

/** What torchrun and elastic-run give their workers. */
const WORKER_VARIABLES: readonly string[] = [
	...["RESTART_COUNT", "MAX_RESTARTS", "RUN_ID", "USE_AGENT_STORE"],
	...["SIGNALS_TO_HANDLE", "TIMER_FILE"],
].map((name) => `TORCHELASTIC_${name}`);

/** The launcher writes it. */
const ERROR_FILE = "TORCHELASTIC_ERROR_FILE";

/**
 * Reads torchrun's variables as torchrun does: each is the default of a flag. A launcher inside a worker does not, because
 * they describe the run that the worker belongs to. One warning names all that have no effect.
 */
export function settingsFromTorchrun(
	environment: Environment,
): EnvironmentReading {
	const settings = new Map<string, Setting>();
	const given = Object.entries(environment).flatMap(([name, text]) =>
		text ? [{ name, text }] : [],
	);
	const isInWorker = Boolean(environment.ELASTIC_RUN_CHANNEL);
	const idle: string[] = [];
	for (const { name, text } of given) {
		const option = OPTION_OF.get(name);
		if (isInWorker && name.startsWith(PREFIX)) continue;
		if (option !== undefined) {
			const origin = `environment ${name}`;
			const inOurNotation =
				option.argument === undefined ? switchText(text) : text;
			settings.set(option.key, { text: inOurNotation, place: origin, origin });
		} else if (isWithoutEffect(name, environment)) idle.push(name);
	}
	return { settings, warnings: warningOf(idle) };
}

/** Whether a setting comes from one of torchrun's variables. */
export function isTorchruns(place: string): boolean {
	return place.startsWith(`environment ${PREFIX}`);
}

/** torchrun takes every whole number but 0 for "on". */
function switchText(text: string): string {
	if (!/^\s*[+-]?\d+\s*$/.test(text)) return text;
	return Number(text) === 0 ? "0" : "1";
}

function isWithoutEffect(
	name: string,
	{ TORCHELASTIC_RUN_ID, LOCAL_RANK }: Environment,
): boolean {
	if (name.startsWith(PREFIX)) return true;
	if (!name.startsWith("TORCHELASTIC_") || name === ERROR_FILE) return false;
	const isWorker = Boolean(TORCHELASTIC_RUN_ID && LOCAL_RANK);
	return !(isWorker && WORKER_VARIABLES.includes(name));
}

function warningOf(names: readonly string[]): readonly string[] {
	if (names.length === 0) return [];
	const have = names.length === 1 ? "has" : "have";
	return [`environment ${names.join(", ")} ${have} no effect here`];
}

/** A torchrun flag without a meaning here. */
interface ForeignFlag {
	/** Without the leading dashes. */
	readonly name: string;
	/** Undefined for a switch. */
	readonly argument?: "VALUE";
	/** What to use here instead; undefined: nothing is needed, and the flag is ignored. */
	readonly instead?: string;
}

export const FOREIGN_FLAGS: readonly ForeignFlag[] = [
	{ name: "monitor-interval", argument: "VALUE" },
	{ name: "start-method", argument: "VALUE" },
	{ name: "run-path" },
	{ name: "event-log-handler", argument: "VALUE" },
	{ name: "logs-specs", argument: "VALUE" },
	{ name: "duplicate-stdout-filters", argument: "VALUE" },
	{ name: "duplicate-stderr-filters", argument: "VALUE" },
	{
		name: "numa-binding",
		argument: "VALUE",
		instead:
			"put numactl before the command: elastic-run [options] numactl … python3 train.py",
	},
	{
		name: "virtual-local-rank",
		instead: "choose the device in the script by LOCAL_RANK",
	},
];

/** One warning for all ignored flags; undefined if there were none. */
export function ignoredFlagsWarning(
	names: readonly string[],
): string | undefined {
	if (names.length === 0) return undefined;
	const [have, are] = names.length === 1 ? ["has", "is"] : ["have", "are"];
	return `${names.join(", ")} ${have} no meaning here and ${are} ignored`;
}
