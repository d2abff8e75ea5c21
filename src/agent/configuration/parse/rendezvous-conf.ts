import { didYouMean } from "../nearest-name.js";
import { exposure } from "./exposure.js";
import { allOf, ok, type Parsed, problem, quote } from "./parsed.js";
import { parseDuration, parseText } from "./scalars.js";

/** The pairs of `--rdzv-conf` that were given; durations in milliseconds. */
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
}

/** etcd grants leases of whole seconds, and none shorter than this. */
const SHORTEST_LEASE_MS = 1_000;

const duration =
	(field: "joinTimeoutMs" | "lastCallTimeoutMs" | "settleTimeoutMs") =>
	(text: string): Parsed<RendezvousSettings> =>
		map(parseDuration(text), (value) => ({ [field]: value }));

const text =
	(field: "username" | "passwordFile" | "caCert" | "cert" | "key") =>
	(value: string): Parsed<RendezvousSettings> =>
		map(parseText(value), (parsed) => ({ [field]: parsed }));

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
};

/** `K=V,…`. */
export function parseRendezvousConf(
	conf: string,
	origin: string,
): Parsed<RendezvousSettings> {
	const seen = new Set<string>();
	const pairs = conf
		.split(",")
		.map((pair) => parsePair(pair.trim(), seen, origin));
	return map(allOf(pairs), mergeSettings);
}

function mergeSettings(
	parts: readonly RendezvousSettings[],
): RendezvousSettings {
	return Object.fromEntries(parts.flatMap((part) => Object.entries(part)));
}

function parsePair(
	pair: string,
	seen: Set<string>,
	origin: string,
): Parsed<RendezvousSettings> {
	const at = pair.indexOf("=");
	const name = toSnakeCase(at < 0 ? pair : pair.slice(0, at));
	const value = at < 0 ? "" : pair.slice(at + 1);
	if (name === "password") {
		return problem(
			`a password in it is ${exposure(origin)}; use password_file=FILE`,
		);
	}
	const parse = Object.hasOwn(PAIRS, name) ? PAIRS[name] : undefined;
	if (parse === undefined) {
		return problem(
			`key ${quote(name)} is unknown; use ${Object.keys(PAIRS).join(", ")}${didYouMean(name, Object.keys(PAIRS))}`,
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

function map<T, U>(parsed: Parsed<T>, change: (value: T) => U): Parsed<U> {
	return "value" in parsed ? ok(change(parsed.value)) : parsed;
}

/** Accepts `joinTimeout` and `join-timeout` for `join_timeout`. */
function toSnakeCase(name: string): string {
	return name
		.replaceAll("-", "_")
		.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
