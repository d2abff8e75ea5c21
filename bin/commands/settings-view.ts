import type { Option } from "../../src/agent/configuration/option.js";
import { ALL_OPTIONS } from "../../src/agent/configuration/options.js";
import type { CommonConfig } from "../../src/agent/configuration/resolve.js";
import type { Settings } from "../../src/agent/configuration/settings.js";
import { shellQuote } from "./shell-quote.js";

/** What is in force, by key, as in a config file. */
export type Configuration = Readonly<Record<string, SettingView>>;

interface SettingView {
	/** In the command line's notation; null where nothing is set. */
	readonly value: string | null;
	readonly origin: string;
}

/** `hasCommand`: what follows from the command is known. */
export function describeConfiguration(
	config: CommonConfig,
	settings: Settings,
	hasCommand = true,
): Configuration {
	const derived = derivedValues(config, hasCommand);
	return Object.fromEntries(
		ALL_OPTIONS.map((option) => [
			option.key,
			viewSetting(option, settings, derived),
		]),
	);
}

/** One line a setting, below a heading. */
export function configurationInWords(
	configuration: Configuration,
): readonly string[] {
	return [
		"configuration (key, value, origin)",
		...Object.entries(configuration).map(
			([key, { value, origin }]) =>
				`  ${key.padEnd(18)} ${(value === null ? "-" : shellQuote(value)).padEnd(32)} ${origin}`,
		),
	];
}

function viewSetting(
	option: Option<unknown> & { readonly defaultText?: string },
	settings: Settings,
	derived: Configuration,
): SettingView {
	const given = settings.get(option.key);
	if (given !== undefined) return { value: given.text, origin: given.origin };
	return (
		derived[option.key] ?? {
			value: option.defaultText ?? null,
			origin: "default",
		}
	);
}

function derivedValues(
	config: CommonConfig,
	hasCommand: boolean,
): Configuration {
	const { runId, environment, backend, endpoints } = config;
	return {
		runId: {
			value: hasCommand || environment.SLURM_JOB_ID ? runId : null,
			origin: environment.SLURM_JOB_ID
				? "environment SLURM_JOB_ID"
				: "derived from the command",
		},
		nodeId: {
			value: config.nodeId,
			origin: `derived from the host name${backend === "etcd" ? ", with -2, … where it is taken" : ""}`,
		},
		rdzvEndpoint: {
			value: endpoints.length > 0 ? endpoints.join(",") : null,
			origin: "default",
		},
		localAddr: {
			value: config.localAddr ?? null,
			origin: config.localAddr ? "default" : "detected at start",
		},
		rdzvBackend: { value: backend, origin: "default" },
		logFormat: { value: config.logFormat, origin: "default" },
	};
}
