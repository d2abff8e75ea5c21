import type { StoreConfig } from "../configuration/agent-config.js";
import { settingsFromEnvironment } from "../configuration/environment.js";
import type { Host } from "../configuration/host.js";
import { OPTIONS } from "../configuration/options.js";
import { readNamedOrFound } from "../configuration/resolve-command-line.js";
import { loginFromEnvironment } from "../configuration/resolve-credentials.js";
import { resolveStore } from "../configuration/resolve-store.js";
import {
	mergeSettings,
	type NameOf,
	type Report,
	type Setting,
	SettingReader,
	type Settings,
} from "../configuration/settings.js";

/** Where a command looks for a run. */
export interface RunPlaces {
	/** On this machine, among the runs without a store. */
	readonly local: boolean;
	/** In a store; undefined: in none. */
	readonly store: StoreConfig | undefined;
	/** Nobody has named the store: it is the one that a run of several nodes takes then. */
	readonly isStoreAssumed: boolean;
}

export interface RunRequest {
	readonly places: RunPlaces;
	readonly output: "text" | "json";
	/** What environment and config file say of the run, where they do. */
	readonly named: {
		readonly runId: string | undefined;
		readonly nodeId: string | undefined;
		/** `--log-dir` */
		readonly logDir: string | undefined;
	};
	/** What the user should know and need not change. */
	readonly notes: readonly string[];
}

const nameOf: NameOf = (option) => `--${option.name}`;

/**
 * What a command that looks at a run is to do, by the same settings as the run
 * itself: flags before environment before config file. Nothing is contacted.
 */
export async function resolveRunRequest(
	flags: Settings,
	host: Host,
): Promise<RunRequest | { readonly problems: readonly string[] }> {
	const environment = settingsFromEnvironment(host.environment);
	const named = mergeSettings([flags, environment.settings]).get(
		OPTIONS.config.key,
	);
	const file = await readNamedOrFound(named, host.cwd);
	const settings = mergeSettings([flags, environment.settings, file.settings]);
	const problems = [...file.problems];
	const report = (words: string) => problems.push(words);
	const places = await resolvePlaces(settings, report, host);
	const reader = new SettingReader(settings, report, nameOf);
	const output = reader.value(OPTIONS.output);
	return problems.length > 0
		? { problems }
		: {
				...{ places, output, notes: file.notes },
				named: {
					runId: reader.textOf(OPTIONS.runId),
					nodeId: reader.textOf(OPTIONS.nodeId),
					logDir: reader.textOf(OPTIONS.logDir),
				},
			};
}

async function resolvePlaces(
	settings: Settings,
	report: Report,
	host: Host,
): Promise<RunPlaces> {
	const { nnodes, rdzvBackend, rdzvEndpoint, standalone } = OPTIONS;
	const reader = new SettingReader(settings, report, nameOf);
	const isNamed = [rdzvBackend, rdzvEndpoint, standalone].some(
		(option) => reader.textOf(option) !== undefined,
	);
	const maxNodes = reader.value(nnodes).max;
	const isStoreAssumed = !isNamed && maxNodes === 1;
	const asked = isStoreAssumed
		? new SettingReader(withEtcd(settings), report, nameOf)
		: reader;
	const store = await resolveStore(
		asked,
		{
			cwd: host.cwd,
			login: loginFromEnvironment(host.environment),
			maxNodes,
		},
		// An agent has said it where it matters.
		() => {},
	);
	return {
		local: isStoreAssumed || store.backend === "memory",
		store: store.backend === "memory" ? undefined : store,
		isStoreAssumed,
	};
}

function withEtcd(settings: Settings): Settings {
	const { key } = OPTIONS.rdzvBackend;
	const etcd: Setting = { text: "etcd", place: "", origin: "" };
	return new Map([...settings, [key, etcd]]);
}
