import type { StoreConfig } from "./agent-config.js";
import { OPTIONS } from "./options.js";
import { addressOf, isHttps, isLoopback } from "./parse/endpoints.js";
import type { RendezvousSettings } from "./parse/rendezvous-conf.js";
import {
	type LoginVariables,
	resolveCredentials,
} from "./resolve-credentials.js";
import type { Report, SettingReader } from "./settings.js";

const DEFAULT_ENDPOINTS = ["127.0.0.1:2379"];

/** Where the run's shared state lives, and with which credentials. Files are read, nothing is contacted. */
export async function resolveStore(
	reader: SettingReader,
	context: {
		/** Base of relative paths. */
		readonly cwd: string;
		readonly login: LoginVariables;
		readonly maxNodes: number;
	},
	warn: Report,
): Promise<StoreConfig> {
	const { rdzvEndpoint, rdzvConf } = OPTIONS;
	const endpoints = reader.given(rdzvEndpoint) ?? DEFAULT_ENDPOINTS;
	const conf = reader.given(rdzvConf) ?? {};
	const backend = chooseBackend(reader, context.maxNodes);
	const encrypted = endpoints.filter(isHttps);
	const credentials = await resolveCredentials(reader, conf, {
		cwd: context.cwd,
		variables: context.login,
		isHttps: encrypted.length > 0,
	});
	if (backend === "memory") return { backend, endpoints: [], credentials: {} };
	if (encrypted.length > 0 && encrypted.length < endpoints.length) {
		reader.refuse(
			rdzvEndpoint,
			`${reader.textOf(rdzvEndpoint)}: some with https and some without; write https:// before all of them, or before none`,
		);
	}
	if (encrypted.length === 0) {
		refuseFilesForTls(reader, conf, endpoints);
		const crossing = endpoints.find((endpoint) => !isLocal(endpoint));
		if (credentials.login !== undefined && crossing !== undefined) {
			warn(
				`the password for etcd goes to ${crossing} in clear text; use https://`,
			);
		}
	}
	if (context.maxNodes > 1 && endpoints.every(isLocal)) {
		warn(loopbackWords(endpoints));
	}
	return { backend, endpoints, credentials };
}

/** Why nodes may not find each other at an endpoint that each machine takes for itself, and the fix. */
export function loopbackWords(endpoints: readonly string[]): string {
	return `only agents of this machine can reach etcd at ${endpoints.join(", ")}; for several machines set ELASTIC_RUN_RDZV_ENDPOINT=host:2379 on every one`;
}

/** The same where it applies to a run: undefined where all nodes can reach an endpoint, or only one is wanted. */
export function loopbackTrouble(
	config: Pick<StoreConfig, "endpoints"> & { readonly maxNodes: number },
): string | undefined {
	const { endpoints, maxNodes } = config;
	return maxNodes > 1 && endpoints.length > 0 && endpoints.every(isLocal)
		? loopbackWords(endpoints)
		: undefined;
}

function isLocal(endpoint: string): boolean {
	return isLoopback(addressOf(endpoint).host);
}

function refuseFilesForTls(
	reader: SettingReader,
	conf: RendezvousSettings,
	endpoints: readonly string[],
): void {
	const given = { cacert: conf.caCert, cert: conf.cert, key: conf.key };
	const names = Object.entries(given)
		.filter(([, file]) => file !== undefined)
		.map(([name]) => name);
	if (names.length === 0) return;
	reader.refuse(
		OPTIONS.rdzvConf,
		`${names.join(", ")}: without effect on ${endpoints.join(", ")}, where TLS is not used; use --rdzv-endpoint https://${endpoints[0]}`,
	);
}

/** Also refuses what cannot be combined. */
function chooseBackend(
	reader: SettingReader,
	maxNodes: number,
): "etcd" | "memory" {
	const { nnodes, rdzvBackend, rdzvEndpoint, standalone } = OPTIONS;
	const given = reader.given(rdzvBackend);
	const isStandalone = reader.value(standalone);
	const hasEndpoint = reader.textOf(rdzvEndpoint) !== undefined;
	if (!reader.sound(nnodes, rdzvBackend, rdzvEndpoint, standalone))
		return "memory";
	const local = isStandalone
		? standalone
		: given === "memory"
			? rdzvBackend
			: undefined;
	if (local === undefined) {
		return given ?? (maxNodes === 1 && !hasEndpoint ? "memory" : "etcd");
	}
	const conflicts = [
		...(maxNodes > 1 ? [nnodes] : []),
		...(hasEndpoint ? [rdzvEndpoint] : []),
		...(isStandalone && given === "etcd" ? [rdzvBackend] : []),
	];
	for (const other of conflicts) {
		reader.refuse(
			local,
			`one node without a store cannot be combined with ${reader.placeOf(other)} ${reader.textOf(other)}; leave one of them out`,
		);
	}
	return "memory";
}
