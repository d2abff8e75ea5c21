import type {
	AgentConfig,
	RendezvousConfig,
	StoreConfig,
	StoreCredentials,
} from "./agent-config.js";
import { resolveCredentials } from "./credentials.js";
import {
	ignoredFlagsWarning,
	isTorchruns,
	type LoginVariables,
} from "./environment.js";
import { refuseExclusions } from "./exclusions.js";
import { OPTIONS } from "./options.js";
import {
	addressOf,
	endpointOf,
	isHttps,
	isLoopback,
	parseEndpoints,
} from "./parse/endpoints.js";
import type { Backend, RendezvousSettings } from "./parse/rendezvous.js";
import {
	completeRendezvous,
	timeOutProblem,
	timeOutWarnings,
} from "./rendezvous-times.js";
import type { Report, SettingReader } from "./settings.js";

/** Where agents meet, how many, and how long they wait. */
export async function resolveRendezvous(
	reader: SettingReader,
	context: { readonly cwd: string; readonly login: LoginVariables },
	warn: Report,
) {
	const { min: minNodes, max: maxNodes } = reader.value(OPTIONS.nnodes);
	const shutdownTimeoutMs = reader.value(OPTIONS.shutdownTimeout);
	const conf = reader.given(OPTIONS.rdzvConf) ?? {};
	const rendezvous = completeRendezvous(conf, { shutdownTimeoutMs, maxNodes });
	const ignored = ignoredFlagsWarning(conf.ignored ?? []);
	if (ignored) warn(`${reader.placeOf(OPTIONS.rdzvConf)}: ${ignored}`);
	checkTimeOuts(reader, rendezvous);
	const store = await resolveStore(reader, { ...context, maxNodes }, warn);
	if (store.backend === "etcd") {
		for (const warning of timeOutWarnings(rendezvous, shutdownTimeoutMs)) {
			warn(`${reader.placeOf(OPTIONS.rdzvConf)}: ${warning}`);
		}
	}
	const nodeRank = reader.given(OPTIONS.nodeRank);
	// An etcd of its own ends with the machine of a node that works alone.
	const isAway = store.backend === "etcd" && store.meeting === undefined;
	const mayBeLinked = maxNodes > 1 || isAway;
	const isLinked = reader.value(OPTIONS.links) === "auto" && mayBeLinked;
	const linkPort = isLinked ? (conf.linkPort ?? 0) : undefined;
	const rideOutMs = isLinked ? reader.value(OPTIONS.rideOut) : 0;
	const links = { linkPort, rideOutMs };
	return { minNodes, maxNodes, ...store, nodeRank, rendezvous, ...links };
}

function checkTimeOuts(
	reader: SettingReader,
	rendezvous: RendezvousConfig,
): void {
	const { rdzvConf, shutdownTimeout, nnodes } = OPTIONS;
	if (!reader.sound(rdzvConf, shutdownTimeout, nnodes)) return;
	const problem = timeOutProblem(rendezvous);
	if (problem !== undefined) reader.refuse(rdzvConf, problem);
}

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
	const { maxNodes } = context;
	const conf = reader.given(OPTIONS.rdzvConf) ?? {};
	const place = resolveBackend(reader, conf, maxNodes, warn);
	const trouble = loopbackTrouble({ ...place, maxNodes });
	if (place.meeting !== undefined) {
		refuseKeys(
			reader,
			["username", "passwordFile", "caCert", "cert", "key"],
			"the etcd that agents start knows neither users nor TLS; leave it out, or run an etcd yourself and use --rdzv-backend etcd",
		);
	}
	const credentials =
		place.meeting === undefined
			? await ownStoreCredentials(reader, conf, context, place, warn)
			: {};
	if (trouble !== undefined) warn(trouble);
	return { ...place, credentials, leaseTtlMs: conf.leaseTtlMs };
}

/** The credentials for an etcd that the agents do not host. */
async function ownStoreCredentials(
	reader: SettingReader,
	conf: RendezvousSettings,
	context: { readonly cwd: string; readonly login: LoginVariables },
	{ backend, endpoints }: StorePlace,
	warn: Report,
): Promise<StoreCredentials> {
	const { rdzvEndpoint } = OPTIONS;
	const encrypted = endpoints.filter(isHttps);
	const credentials = await resolveCredentials(reader, conf, {
		cwd: context.cwd,
		variables: context.login,
		isHttps: encrypted.length > 0,
	});
	if (backend === "memory") return {};
	if (encrypted.length > 0 && encrypted.length < endpoints.length) {
		reader.refuse(
			rdzvEndpoint,
			`${reader.textOf(rdzvEndpoint)}: some with https and some without; write https:// before all of them, or before none`,
		);
	}
	if (encrypted.length > 0) return credentials;
	refuseKeys(
		reader,
		["caCert", "cert", "key"],
		`without effect on ${endpoints.join(", ")}, where TLS is not used; use --rdzv-endpoint https://${endpoints[0]}`,
	);
	const crossing = endpoints.find((endpoint) => !isLocal(endpoint));
	if (credentials.login !== undefined && crossing !== undefined) {
		warn(
			`the password for etcd goes to ${crossing} in clear text; use https://`,
		);
	}
	return credentials;
}

type Places = Pick<AgentConfig, "endpoints" | "maxNodes"> &
	Partial<Pick<AgentConfig, "meeting">>;

/** Why nodes may not find each other at a loopback endpoint, and the fix; undefined if all can, or there is only one. */
export function loopbackTrouble({
	endpoints,
	maxNodes,
	meeting,
}: Places): string | undefined {
	if (maxNodes === 1 || endpoints.length === 0) return undefined;
	if (!endpoints.every(isLocal)) return undefined;
	return meeting === undefined
		? `only agents of this machine can reach etcd at ${endpoints.join(", ")}; for several machines set ELASTIC_RUN_RDZV_ENDPOINT=host:2379 on every one`
		: `only agents of this machine can meet at ${endpoints.join(", ")}; for several machines give the first one's name as --rdzv-endpoint HOST:29400 on every one`;
}

function isLocal(endpoint: string): boolean {
	return isLoopback(addressOf(endpoint).host);
}

const KEY_NAMES = {
	username: "username",
	passwordFile: "password_file",
	caCert: "cacert",
	cert: "cert",
	key: "key",
} as const;

/** Refuses those keys of `--rdzv-conf` that are given. */
function refuseKeys(
	reader: SettingReader,
	keys: readonly (keyof typeof KEY_NAMES)[],
	words: string,
): void {
	const conf = reader.given(OPTIONS.rdzvConf);
	const given = keys.filter((key) => conf?.[key] !== undefined);
	if (given.length === 0) return;
	const names = given.map((key) => KEY_NAMES[key]);
	reader.refuse(OPTIONS.rdzvConf, `${names.join(", ")}: ${words}`);
}

const DEFAULT_ENDPOINTS = ["127.0.0.1:2379"];

/** torchrun's default. */
const MEETING_PORT = 29_400;
const MEETING_HOST = "localhost";
const MASTER_PORT = 29_500;
const MASTER_HOST = "127.0.0.1";

/** The members' port is the next one. */
const LARGEST_MEETING_PORT = 65_534;

/** `--rdzv-endpoint` where agents host the etcd: the port is optional, and 0 is any free one. */
const MEETING_ENDPOINT = {
	...OPTIONS.rdzvEndpoint,
	parse: (text: string, origin: string) =>
		parseEndpoints(text, origin, { usual: MEETING_PORT, least: 0 }),
};

/** Where the settings place a run's shared state. */
type StorePlace = Pick<AgentConfig, "backend" | "endpoints" | "meeting">;

const MEMORY: StorePlace = {
	backend: "memory",
	endpoints: [],
	meeting: undefined,
};

/** Chooses the backend, and refuses settings that exclude each other. */
function resolveBackend(
	reader: SettingReader,
	conf: RendezvousSettings,
	maxNodes: number,
	warn: Report,
): StorePlace {
	const { nnodes, rdzvBackend, rdzvEndpoint, standalone } = OPTIONS;
	const backend = givenBackend(reader);
	const master = masterEndpoint(reader);
	const hasEndpoint = reader.textOf(rdzvEndpoint) !== undefined;
	const isTorch = backend === "c10d" || backend === "static";
	const isMaster = !hasEndpoint && master !== undefined;
	const isMeeting = isTorch || (backend === undefined && isMaster);
	const given = reader.given(isMeeting ? MEETING_ENDPOINT : rdzvEndpoint);
	if (!reader.sound(nnodes, rdzvBackend, rdzvEndpoint, standalone))
		return MEMORY;
	refuseExclusions(reader);
	if (reader.value(standalone)) {
		const idle = [rdzvBackend, rdzvEndpoint].filter(
			(option) => reader.textOf(option) !== undefined,
		);
		const names = idle.map((option) => reader.placeOf(option)).join(" and ");
		if (names !== "") warn(`${names}: without effect, because of --standalone`);
	}
	if (reader.value(standalone) || backend === "memory") return MEMORY;
	if (isMeeting && refusesAnyPort(reader, given ?? [], maxNodes)) return MEMORY;
	if (maxNodes === 1 && (isMeeting || (!hasEndpoint && backend !== "etcd")))
		return MEMORY;
	if (master !== undefined && !(isMeeting && isMaster))
		warnOfMaster(reader, warn);
	if (!isMeeting) {
		if (conf.isHost !== undefined) {
			reader.refuse(
				OPTIONS.rdzvConf,
				"is_host: etcd is started by agents only with --rdzv-backend c10d; give that, or leave is_host out",
			);
		}
		return {
			backend: "etcd",
			endpoints: given ?? DEFAULT_ENDPOINTS,
			meeting: undefined,
		};
	}
	const byRank = backend === "static" || isMaster;
	const named = given ?? [master ?? `${MEETING_HOST}:${MEETING_PORT}`];
	const endpoints = byRank ? named.map(besideWorkers) : named;
	refuseEndpoints(reader, endpoints);
	const isHost = conf.isHost ?? (byRank ? isFirst(reader) : undefined);
	return { backend: "etcd", endpoints, meeting: { isHost } };
}

/** torchrun's variable of an endpoint comes with torchrun's default: `static`. */
export function givenBackend(reader: SettingReader): Backend | undefined {
	const { rdzvBackend, rdzvEndpoint } = OPTIONS;
	const isGiven = reader.textOf(rdzvBackend) !== undefined;
	const isStatic = !isGiven && isTorchruns(reader.placeOf(rdzvEndpoint));
	return isStatic ? "static" : reader.given(rdzvBackend);
}

/** The port of a master is the workers' own: a script may meet there. etcd takes the two after it, or before it. */
function besideWorkers(endpoint: string): string {
	const { host, port } = addressOf(endpoint);
	return endpointOf(host, port < LARGEST_MEETING_PORT ? port + 1 : port - 2);
}

function masterEndpoint(reader: SettingReader): string | undefined {
	const host = reader.given(OPTIONS.masterAddr);
	const port = reader.given(OPTIONS.masterPort);
	return host === undefined && port === undefined
		? undefined
		: endpointOf(host ?? MASTER_HOST, port ?? MASTER_PORT);
}

/** Whether this is the node of rank 0; undefined if no setting tells. */
function isFirst(reader: SettingReader): boolean | undefined {
	const rank = reader.given(OPTIONS.nodeRank);
	return rank === undefined ? undefined : rank === 0;
}

function warnOfMaster(reader: SettingReader, warn: Report): void {
	const names = [OPTIONS.masterAddr, OPTIONS.masterPort]
		.filter((option) => reader.textOf(option) !== undefined)
		.map((option) => reader.placeOf(option));
	warn(
		`${names.join(", ")}: without effect here, because nodes meet at etcd; MASTER_ADDR and MASTER_PORT of the workers follow from the node of rank 0`,
	);
}

function refuseEndpoints(
	reader: SettingReader,
	endpoints: readonly string[],
): void {
	const refuse = (words: string) => {
		const isGiven = reader.textOf(OPTIONS.rdzvEndpoint) !== undefined;
		reader.refuse(isGiven ? OPTIONS.rdzvEndpoint : OPTIONS.masterPort, words);
	};
	const hosts = endpoints.map((endpoint) => addressOf(endpoint).host);
	if (endpoints.some(isHttps)) {
		refuse(
			"the etcd that agents start does not speak TLS; leave https:// out, or run an etcd yourself and use --rdzv-backend etcd",
		);
	} else if (endpoints.length % 2 === 0) {
		refuse(
			`${endpoints.length} endpoints survive no more than ${endpoints.length - 1}; give one, or three on three hosts`,
		);
	} else if (new Set(hosts).size < hosts.length) {
		refuse("a host is named twice; several endpoints are for several hosts");
	}
	const high = endpoints.find(
		(endpoint) => addressOf(endpoint).port > LARGEST_MEETING_PORT,
	);
	if (high !== undefined) {
		refuse(
			`${high}: etcd needs the next port as well; use one up to ${LARGEST_MEETING_PORT}`,
		);
	}
}

/** torchrun's `localhost:0` means a port that is free, which a node alone does not need. */
function refusesAnyPort(
	reader: SettingReader,
	endpoints: readonly string[],
	maxNodes: number,
): boolean {
	const isAlone = maxNodes === 1 && endpoints.every(isLocal);
	const any = endpoints.find((endpoint) => addressOf(endpoint).port === 0);
	if (any === undefined || isAlone) return false;
	reader.refuse(
		OPTIONS.rdzvEndpoint,
		`"${any}": port 0 is out of range where nodes meet, because none of them knows which port is chosen; use 1-65535`,
	);
	return true;
}
