import type { AgentConfig, StoreConfig } from "./agent-config.js";
import { OPTIONS } from "./options.js";
import { addressOf, isHttps, isLoopback } from "./parse/endpoints.js";
import type { RendezvousSettings } from "./parse/rendezvous-conf.js";
import { resolveBackend } from "./resolve-backend.js";
import {
	type LoginVariables,
	resolveCredentials,
} from "./resolve-credentials.js";
import type { Report, SettingReader } from "./settings.js";

/** Where the run's shared state is stored, and the credentials. Reads files, contacts nothing. */
export async function resolveStore(
	reader: SettingReader,
	context: {
		/** Base of relative paths. */
		readonly cwd: string;
		readonly login: LoginVariables;
		readonly maxNodes: number;
	},
	warn: Report,
): Promise<StoreConfig & Pick<AgentConfig, "meeting">> {
	const { rdzvEndpoint, rdzvConf } = OPTIONS;
	const { maxNodes } = context;
	const conf = reader.given(rdzvConf) ?? {};
	const { leaseTtlMs } = conf;
	const choice = resolveBackend(reader, conf, maxNodes, warn);
	if (choice.kind === "meeting") {
		const { endpoints, isHost } = choice;
		refuseCredentials(reader, conf);
		const meeting = { isHost };
		warnOfLoopback({ endpoints, maxNodes, meeting }, warn);
		return { backend: "etcd", endpoints, credentials: {}, leaseTtlMs, meeting };
	}
	const endpoints = choice.kind === "etcd" ? choice.endpoints : [];
	const encrypted = endpoints.filter(isHttps);
	const credentials = await resolveCredentials(reader, conf, {
		cwd: context.cwd,
		variables: context.login,
		isHttps: encrypted.length > 0,
	});
	const meeting = undefined;
	if (choice.kind === "memory") {
		return { backend: "memory", endpoints: [], credentials: {}, meeting };
	}
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
	warnOfLoopback({ endpoints, maxNodes, meeting }, warn);
	return { backend: "etcd", endpoints, credentials, leaseTtlMs, meeting };
}

type Places = Pick<AgentConfig, "endpoints" | "maxNodes"> &
	Partial<Pick<AgentConfig, "meeting">>;

function warnOfLoopback(places: Places, warn: Report): void {
	const trouble = loopbackTrouble(places);
	if (trouble !== undefined) warn(trouble);
}

/** Why nodes may not find each other at a loopback endpoint, and the fix. */
export function loopbackWords(endpoints: readonly string[]): string {
	return `only agents of this machine can reach etcd at ${endpoints.join(", ")}; for several machines set ELASTIC_RUN_RDZV_ENDPOINT=host:2379 on every one`;
}

/** The same if it applies to the run; undefined if all nodes can reach an endpoint, or there is only one node. */
export function loopbackTrouble({
	endpoints,
	maxNodes,
	meeting,
}: Places): string | undefined {
	if (maxNodes === 1 || endpoints.length === 0) return undefined;
	if (!endpoints.every(isLocal)) return undefined;
	return meeting === undefined
		? loopbackWords(endpoints)
		: `only agents of this machine can meet at ${endpoints.join(", ")}; for several machines give the first one's name as --rdzv-endpoint HOST:29400 on every one`;
}

function isLocal(endpoint: string): boolean {
	return isLoopback(addressOf(endpoint).host);
}

/** The etcd that agents host has no logins. */
function refuseCredentials(
	reader: SettingReader,
	conf: RendezvousSettings,
): void {
	const { username, passwordFile: password_file, cert, key } = conf;
	const given = { username, password_file, cacert: conf.caCert, cert, key };
	const names = Object.entries(given)
		.filter(([, value]) => value !== undefined)
		.map(([name]) => name);
	if (names.length === 0) return;
	reader.refuse(
		OPTIONS.rdzvConf,
		`${names.join(", ")}: the etcd that agents start knows neither users nor TLS; leave it out, or run an etcd yourself and use --rdzv-backend etcd`,
	);
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
