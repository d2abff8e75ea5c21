import {
	ALL_OPTIONS,
	type CommonConfig,
	type Option,
	type Settings,
} from "../../src/config/index.js";

/** The effective settings by key, as in a config file. */
export type Configuration = Readonly<Record<string, SettingView>>;

interface SettingView {
	/** In the command line's notation; null if nothing is set. */
	readonly value: string | null;
	readonly origin: string;
}

/** `hasCommand`: what derives from the command is known. */
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

const SWITCHES: ReadonlySet<string> = new Set(
	ALL_OPTIONS.filter(({ argument }) => argument === undefined).map(
		({ key }) => key,
	),
);

/** One line per setting, below a heading. */
export function configurationInWords(
	configuration: Configuration,
): readonly string[] {
	return [
		"configuration (key, value, origin)",
		...Object.entries(configuration).map(
			([key, { value, origin }]) =>
				`  ${key.padEnd(18)} ${valueInWords(key, value).padEnd(32)} ${origin}`,
		),
	];
}

/** A switch reads as in a config file. */
function valueInWords(key: string, value: string | null): string {
	if (value === null) return "-";
	if (!SWITCHES.has(key)) return shellQuote(value);
	return /^(?:0|false)$/i.test(value) ? "false" : "true";
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
				? `environment SLURM_JOB_ID${environment.SLURM_STEP_ID || environment.SLURM_STEPID ? " and SLURM_STEP_ID" : ""}`
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
	};
}

export function shellQuote(word: string): string {
	return /^[\w@%+=:,./-]+$/.test(word)
		? word
		: `'${word.replaceAll("'", "'\\''")}'`;
}
