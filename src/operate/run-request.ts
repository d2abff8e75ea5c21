import {
	givenBackend,
	type Host,
	loginFromEnvironment,
	type NameOf,
	OPTIONS,
	type Report,
	readSources,
	resolveStore,
	type Setting,
	SettingReader,
	type Settings,
	type StoreConfig,
} from "../config/index.js";

/** The places where a command looks for a run. */
export interface RunPlaces {
	/** On this machine, among the runs without a store. */
	readonly local: boolean;
	/** In a store; undefined: in none. */
	readonly store: StoreConfig | undefined;
	/** No store was named: this is the default of a run with several nodes. */
	readonly isStoreAssumed: boolean;
}

export interface RunRequest {
	readonly places: RunPlaces;
	readonly output: "text" | "json";
	/** What flags, environment and config file say about the run. */
	readonly named: {
		readonly runId: string | undefined;
		readonly nodeId: string | undefined;
		readonly logDir: string | undefined;
	};
	/** Facts that the user should know and need not change. */
	readonly notes: readonly string[];
}

const nameOf: NameOf = (option) => `--${option.name}`;

/**
 * The request of a command that looks at a run, from the run's own settings, in a launch's order of precedence. Contacts
 * nothing.
 */
export async function resolveRunRequest(
	flags: Settings,
	host: Host,
): Promise<RunRequest | { readonly problems: readonly string[] }> {
	const { settings, notes, ...read } = await readSources(flags, host);
	const problems = [...read.problems];
	const report = (words: string) => problems.push(words);
	const places = await resolvePlaces(settings, report, host);
	const reader = new SettingReader(settings, report, nameOf);
	const output = reader.value(OPTIONS.output);
	return problems.length > 0
		? { problems }
		: {
				...{ places, output, notes },
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
	// A command that looks at a run need not know how many nodes it has.
	const maxNodes = hostsOwnStore(reader) ? 2 : reader.value(nnodes).max;
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
		// The agent has already reported it.
		() => {},
	);
	return {
		local: isStoreAssumed || store.backend === "memory",
		store: store.backend === "memory" ? undefined : store,
		isStoreAssumed,
	};
}

/** Whether agents of the run host the store, at a given address. Port 0 is that of one node, which has none. */
function hostsOwnStore(reader: SettingReader): boolean {
	const backend = givenBackend(reader);
	const endpoint = reader.textOf(OPTIONS.rdzvEndpoint) ?? ":0";
	return (
		(backend === "c10d" || backend === "static") && !endpoint.endsWith(":0")
	);
}

function withEtcd(settings: Settings): Settings {
	const { key } = OPTIONS.rdzvBackend;
	const etcd: Setting = { text: "etcd", place: "", origin: "" };
	return new Map([...settings, [key, etcd]]);
}
