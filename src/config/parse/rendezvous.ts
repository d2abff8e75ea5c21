import { didYouMean } from "../../base/nearest-name.js";
import { exposure, parsePort } from "./endpoints.js";
import {
	allOf,
	mapParsed,
	ok,
	oneOf,
	type Parsed,
	parseCount,
	parseDuration,
	parseSwitch,
	parseText,
	problem,
	quote,
} from "./scalars.js";

/** The given pairs of `--rdzv-conf`; durations in milliseconds. */
export interface RendezvousSettings {
	readonly joinTimeoutMs?: number;
	readonly lastCallTimeoutMs?: number;
	readonly settleTimeoutMs?: number;
	readonly leaseTtlMs?: number;
	readonly username?: string;
	readonly passwordFile?: string;
	readonly caCert?: string;
	readonly cert?: string;
	readonly key?: string;
	/** Whether this agent hosts the etcd of the c10d backend. */
	readonly isHost?: boolean;
	/** Where this agent listens for the others; 0: any free port. */
	readonly linkPort?: number;
	/** torchrun's `timeout`: the join time-out, unless that is given, extended to what the other times need. */
	readonly timeoutMs?: number;
	/** torchrun's interval between signs of life, and how many may be missed. */
	readonly keepAliveMs?: number;
	readonly keepAliveAttempts?: number;
	/** torchrun's keys that have no meaning here. */
	readonly ignored?: readonly string[];
}

/** etcd grants leases of whole seconds; this is its minimum. */
const SHORTEST_LEASE_MS = 1_000;

const duration =
	(
		field:
			| "joinTimeoutMs"
			| "lastCallTimeoutMs"
			| "settleTimeoutMs"
			| "timeoutMs"
			| "keepAliveMs",
	) =>
	(text: string): Parsed<RendezvousSettings> =>
		mapParsed(parseDuration(text), (value) => ({ [field]: value }));

const text =
	(field: "username" | "passwordFile" | "caCert" | "cert" | "key") =>
	(value: string): Parsed<RendezvousSettings> =>
		mapParsed(parseText(value), (parsed) => ({ [field]: parsed }));

const PAIRS: Readonly<
	Record<string, (value: string) => Parsed<RendezvousSettings>>
> = {
	join_timeout: duration("joinTimeoutMs"),
	last_call_timeout: duration("lastCallTimeoutMs"),
	settle_timeout: duration("settleTimeoutMs"),
	lease_ttl: parseLease,
	username: text("username"),
	password_file: text("passwordFile"),
	cacert: text("caCert"),
	cert: text("cert"),
	key: text("key"),
	is_host: (value) =>
		mapParsed(parseTorchSwitch(value), (isHost) => ({ isHost })),
	link_port: (value) =>
		mapParsed(parsePort(value), (linkPort) => ({ linkPort })),
};

const ignore = (name: string) => (): Parsed<RendezvousSettings> =>
	ok({ ignored: [name] });

/** Ignores the one value that fits, and refuses others. */
const only =
	(name: string, value: string, instead: string) =>
	(text: string): Parsed<RendezvousSettings> =>
		text.toLowerCase() === value
			? ok({ ignored: [name] })
			: problem(`${quote(text)} has no meaning here; ${instead}`);

/** More of torchrun's keys (of its backends c10d, static, etcd and etcd-v2), so that its command lines work unchanged. */
const TORCH_PAIRS: typeof PAIRS = {
	timeout: duration("timeoutMs"),
	keep_alive_interval: duration("keepAliveMs"),
	keep_alive_max_attempt: (value) =>
		mapParsed(parseCount(value), (keepAliveAttempts) => ({
			keepAliveAttempts,
		})),
	ca_cert: text("caCert"),
	ssl_cert: text("cert"),
	ssl_cert_key: text("key"),
	close_timeout: ignore("close_timeout"),
	heartbeat_timeout: ignore("heartbeat_timeout"),
	read_timeout: ignore("read_timeout"),
	etcd_prefix: ignore("etcd_prefix"),
	protocol: only(
		"protocol",
		"http",
		"for TLS write https:// before each endpoint",
	),
	store_type: only(
		"store_type",
		"tcp",
		"nodes meet at etcd: leave it out, and give --rdzv-endpoint HOST:PORT",
	),
	rank: ignore("rank"),
};

const KNOWN = { ...PAIRS, ...TORCH_PAIRS };

/** torchrun's default. */
const KEEP_ALIVE_MS = 5_000;
const KEEP_ALIVE_ATTEMPTS = 3;

/** `K=V,…`. */
export function parseRendezvousConf(
	conf: string,
	origin: string,
): Parsed<RendezvousSettings> {
	const seen = new Set<string>();
	const pairs = conf
		.split(",")
		.map((pair) => parsePair(pair.trim(), seen, origin));
	return mapParsed(allOf(pairs), mergeSettings);
}

function mergeSettings(
	parts: readonly RendezvousSettings[],
): RendezvousSettings {
	const merged: RendezvousSettings = Object.fromEntries(
		parts.flatMap((part) => Object.entries(part)),
	);
	const ignored = parts.flatMap((part) => part.ignored ?? []);
	const { keepAliveMs, keepAliveAttempts, ...settings } = merged;
	const leaseTtlMs =
		keepAliveMs === undefined && keepAliveAttempts === undefined
			? merged.leaseTtlMs
			: (merged.leaseTtlMs ?? leaseOf(keepAliveMs, keepAliveAttempts));
	return {
		...settings,
		...(leaseTtlMs !== undefined && { leaseTtlMs }),
		...(ignored.length > 0 && { ignored }),
	};
}

/** torchrun declares a node dead after this many missed signs of life. */
function leaseOf(
	intervalMs = KEEP_ALIVE_MS,
	attempts = KEEP_ALIVE_ATTEMPTS,
): number {
	const seconds = Math.ceil((intervalMs * attempts) / 1_000);
	return Math.max(seconds * 1_000, SHORTEST_LEASE_MS);
}

function parsePair(
	pair: string,
	seen: Set<string>,
	origin: string,
): Parsed<RendezvousSettings> {
	const at = pair.indexOf("=");
	const name = toSnakeCase(at < 0 ? pair : pair.slice(0, at).trim());
	const value = at < 0 ? "" : withoutQuotes(pair.slice(at + 1).trim());
	if (name === "password") {
		return problem(
			`a password in it is ${exposure(origin)}; use password_file=FILE`,
		);
	}
	const parse = Object.hasOwn(KNOWN, name) ? KNOWN[name] : undefined;
	if (parse === undefined) {
		return problem(
			`key ${quote(name)} is unknown; use ${Object.keys(PAIRS).join(", ")}${didYouMean(name, Object.keys(KNOWN))}`,
		);
	}
	if (value === "") {
		return problem(`${name} has no value; use ${name}=VALUE`);
	}
	if (seen.has(name)) return problem(`${name} is given twice; give it once`);
	seen.add(name);
	const parsed = parse(value);
	if ("value" in parsed) return parsed;
	return problem(`${name}: ${parsed.problems.join("; ")}`);
}

function parseLease(value: string): Parsed<RendezvousSettings> {
	const parsed = parseDuration(value);
	if (!("value" in parsed)) return parsed;
	const leaseTtlMs = parsed.value;
	return leaseTtlMs >= SHORTEST_LEASE_MS && leaseTtlMs % 1_000 === 0
		? ok({ leaseTtlMs })
		: problem(`${quote(value)} is not valid; use whole seconds, at least 1`);
}

/** Accepts torchrun's other words as well. */
function parseTorchSwitch(text: string): Parsed<boolean> {
	const word = text.toLowerCase();
	if (["t", "yes", "y"].includes(word)) return ok(true);
	if (["f", "no", "n"].includes(word)) return ok(false);
	return parseSwitch(text);
}

/** Accepts `joinTimeout` and `join-timeout` for `join_timeout`. */
/** A job script quotes a value once more. */
function withoutQuotes(text: string): string {
	return /^(["']).*\1$/s.test(text) ? text.slice(1, -1) : text;
}

function toSnakeCase(name: string): string {
	return name
		.replaceAll("-", "_")
		.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Where a run's shared state is stored. `c10d`: in an etcd that the agents host; `static` is the same. */
export type Backend = "etcd" | "memory" | "c10d" | "static";

const parseOwn = oneOf("etcd", "memory", "c10d", "static");

export function parseBackend(text: string): Parsed<Backend> {
	return text === "etcd-v2"
		? problem(
				`${quote(text)} is torchrun's; use etcd with --rdzv-endpoint HOST:2379`,
			)
		: parseOwn(text);
}
