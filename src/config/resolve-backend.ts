import { OPTIONS } from "./options.js";
import type { Backend } from "./parse/backend.js";
import {
	addressOf,
	endpointOf,
	isHttps,
	parseEndpoints,
} from "./parse/endpoints.js";
import type { RendezvousSettings } from "./parse/rendezvous-conf.js";
import type { Report, SettingReader } from "./settings.js";
import { isTorchruns } from "./torchrun-environment.js";

const DEFAULT_ENDPOINTS = ["127.0.0.1:2379"];

/** torchrun's default. */
const MEETING_PORT = 29_400;
const MEETING_HOST = "localhost";
const MASTER_PORT = 29_500;
const MASTER_HOST = "127.0.0.1";

/** The members' port is the next one. */
const LARGEST_MEETING_PORT = 65_534;

/** `--rdzv-endpoint` where agents host the etcd: the port is optional. */
const MEETING_ENDPOINT = {
	...OPTIONS.rdzvEndpoint,
	parse: (text: string, origin: string) =>
		parseEndpoints(text, origin, MEETING_PORT),
};

/** Where the settings place a run's shared state. */
export type BackendChoice =
	| { readonly kind: "memory" }
	| { readonly kind: "etcd"; readonly endpoints: readonly string[] }
	/** An etcd that agents host at these endpoints. */
	| {
			readonly kind: "meeting";
			readonly endpoints: readonly string[];
			readonly isHost: boolean | undefined;
	  };

/** Chooses the backend, and refuses settings that exclude each other. */
export function resolveBackend(
	reader: SettingReader,
	conf: RendezvousSettings,
	maxNodes: number,
	warn: Report,
): BackendChoice {
	const { nnodes, rdzvBackend, rdzvEndpoint, standalone } = OPTIONS;
	const backend = givenBackend(reader);
	const master = masterEndpoint(reader);
	const hasEndpoint = reader.textOf(rdzvEndpoint) !== undefined;
	const isTorch = backend === "c10d" || backend === "static";
	const isMaster = !hasEndpoint && master !== undefined;
	const isMeeting = isTorch || (backend === undefined && isMaster);
	const given = reader.given(isMeeting ? MEETING_ENDPOINT : rdzvEndpoint);
	if (!reader.sound(nnodes, rdzvBackend, rdzvEndpoint, standalone)) {
		return { kind: "memory" };
	}
	if (refuseLocal(reader, maxNodes)) return { kind: "memory" };
	if (maxNodes === 1 && (isMeeting || (!hasEndpoint && backend !== "etcd"))) {
		return { kind: "memory" };
	}
	if (master !== undefined && !(isMeeting && isMaster))
		warnOfMaster(reader, warn);
	if (!isMeeting) {
		if (conf.isHost !== undefined) {
			reader.refuse(
				OPTIONS.rdzvConf,
				"is_host: etcd is started by agents only with --rdzv-backend c10d; give that, or leave is_host out",
			);
		}
		return { kind: "etcd", endpoints: given ?? DEFAULT_ENDPOINTS };
	}
	const endpoints = given ?? [master ?? `${MEETING_HOST}:${MEETING_PORT}`];
	refuseEndpoints(reader, endpoints);
	const byRank = backend === "static" || isMaster;
	const isHost = conf.isHost ?? (byRank ? isFirst(reader) : undefined);
	return { kind: "meeting", endpoints, isHost };
}

/** torchrun's variable of an endpoint comes with torchrun's default: `static`. */
export function givenBackend(reader: SettingReader): Backend | undefined {
	const { rdzvBackend, rdzvEndpoint } = OPTIONS;
	const isGiven = reader.textOf(rdzvBackend) !== undefined;
	const isStatic = !isGiven && isTorchruns(reader.placeOf(rdzvEndpoint));
	return isStatic ? "static" : reader.given(rdzvBackend);
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

/** Whether the run has no external store; refuses settings that need one. */
function refuseLocal(reader: SettingReader, maxNodes: number): boolean {
	const { nnodes, rdzvBackend, rdzvEndpoint, standalone } = OPTIONS;
	const isStandalone = reader.value(standalone);
	const backend = reader.given(rdzvBackend);
	if (!isStandalone && backend !== "memory") return false;
	const local = isStandalone ? standalone : rdzvBackend;
	const conflicts = [
		...(maxNodes > 1 ? [nnodes] : []),
		...(reader.textOf(rdzvEndpoint) === undefined ? [] : [rdzvEndpoint]),
		...(isStandalone && backend === "etcd" ? [rdzvBackend] : []),
	];
	for (const other of conflicts) {
		reader.refuse(
			local,
			`one node without a store cannot be combined with ${reader.placeOf(other)} ${reader.textOf(other)}; leave one of them out`,
		);
	}
	return true;
}
