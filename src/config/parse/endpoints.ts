import { isIPv6 } from "node:net";
import { isHost } from "./nodes.js";
import {
	allOf,
	invalid,
	mapParsed,
	ok,
	type Parsed,
	problem,
	quote,
	wholeNumber,
} from "./scalars.js";

const SCHEME = /^([a-z][a-z0-9+.-]*):\/\//i;
const LARGEST_PORT = 65_535;
const HTTPS = "https://";

/** Whether an endpoint from `parseEndpoints` uses TLS. */
export function isHttps(endpoint: string): boolean {
	return endpoint.startsWith(HTTPS);
}

/** Host (without brackets) and port of an endpoint. */
export function addressOf(endpoint: string): { host: string; port: number } {
	const address = isHttps(endpoint) ? endpoint.slice(HTTPS.length) : endpoint;
	const colon = address.lastIndexOf(":");
	return {
		host: address.slice(0, colon).replace(/^\[(.*)\]$/, "$1"),
		port: Number(address.slice(colon + 1)),
	};
}

/** Whether a host, as written, is a loopback name or address. */
export function isLoopback(host: string): boolean {
	const name = host.toLowerCase().replace(/\.$/, "");
	return /^(127\.[\d.]+|0\.0\.0\.0|::1?|.*\.localhost|localhost)$/.test(name);
}

/** The port of an entry without one (undefined: such an entry is refused), and the least that may be given. */
interface Ports {
	readonly usual?: number;
	readonly least: number;
}

/**
 * `HOST:PORT[,…]`. Each may begin with `http://`, which is dropped, or `https://`.
 */
export function parseEndpoints(
	text: string,
	origin: string,
	ports: Ports = { least: 1 },
): Parsed<readonly string[]> {
	const entries = text.split(",");
	return allOf(
		entries.map((entry) => parseEndpoint(entry.trim(), origin, ports)),
	);
}

function parseEndpoint(
	entry: string,
	origin: string,
	ports: Ports,
): Parsed<string> {
	const scheme = SCHEME.exec(entry)?.[1]?.toLowerCase();
	const address = entry.replace(SCHEME, "").replace(/\/$/, "");
	if (address.includes("@")) {
		return problem(
			`credentials in it are ${exposure(origin)}; use --rdzv-conf username=NAME,password_file=FILE`,
		);
	}
	if (scheme !== undefined && scheme !== "http" && scheme !== "https") {
		return problem(
			`${quote(entry)}: "${scheme}" is not supported; use host:port or https://host:port`,
		);
	}
	if (address.includes("/")) {
		return problem(
			`${quote(entry)}: a path has no meaning; use host:port, for example ${address.replace(/\/.*$/, "")}`,
		);
	}
	return mapParsed(parseAddress(address, ports), (parsed) =>
		scheme === "https" ? `${HTTPS}${parsed}` : parsed,
	);
}

export function parsePort(text: string): Parsed<number> {
	const port = wholeNumber(text, 1);
	return port !== undefined && port <= LARGEST_PORT
		? ok(port)
		: invalid(text, `a port from 1 to ${LARGEST_PORT}`);
}

/** Joins a host (without brackets) and a port. */
export function endpointOf(host: string, port: number): string {
	return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}

/** `host:port`, with an IPv6 address in brackets. */
function parseAddress(address: string, ports: Ports): Parsed<string> {
	if (isIPv6(address) || (address.match(/:/g) ?? []).length > 1) {
		const bracketed = /^\[([^\]]*)\](?::(.*))?$/.exec(address);
		if (bracketed === null) {
			return problem(
				`${quote(address)}: write an IPv6 address in brackets, for example [::1]:2379`,
			);
		}
		const [, host = "", port] = bracketed;
		return isIPv6(host) ? withPort(`[${host}]`, port, ports) : badHost(address);
	}
	const [host = "", port] = address.split(":");
	return isHost(host) ? withPort(host, port, ports) : badHost(address);
}

function withPort(
	host: string,
	given: string | undefined,
	{ usual, least }: Ports,
): Parsed<string> {
	const port = given ?? usual?.toString();
	if (port === undefined || port === "") {
		return problem(
			`${quote(host)}: port missing; use host:port, for example ${host}:2379`,
		);
	}
	if (!/^\d+$/.test(port)) {
		return problem(
			`${quote(`${host}:${port}`)}: ${quote(port)} is no port; use 1-${LARGEST_PORT}`,
		);
	}
	const number = Number(port);
	if (number < least || number > LARGEST_PORT) {
		return problem(
			`${quote(`${host}:${port}`)}: port ${port} is out of range; use 1-${LARGEST_PORT}`,
		);
	}
	return ok(`${host}:${number}`);
}

function badHost(address: string): Parsed<never> {
	return problem(
		`${quote(address)} is not an address; use host:port, for example etcd1:2379`,
	);
}

/** This machine alone: the host that `:PORT` means. */
export const LOOPBACK = "127.0.0.1";

/** Where a server listens. */
export interface HttpAddress {
	/** Without brackets. */
	readonly host: string;
	/** 0: any free port. */
	readonly port: number;
}

/** `HOST:PORT`, `[IPV6]:PORT`, or `:PORT` for this machine only. */
export function parseHttpAddress(text: string): Parsed<HttpAddress> {
	const [, name = "", digits = ""] = /^(.*):([^:\]]*)$/.exec(text) ?? [];
	const port = wholeNumber(digits, 0);
	if (port === undefined) {
		if (/^\d+$/.test(text)) {
			return problem(
				`${quote(text)}: host missing; use :${text} for this machine alone, or HOST:${text}`,
			);
		}
		const words =
			digits === "" ? "port missing" : `${quote(digits)} is no port`;
		return problem(
			`${quote(text)}: ${words}; use HOST:PORT, or :PORT for this machine alone, for example :8080`,
		);
	}
	if (port > LARGEST_PORT) {
		return problem(
			`${quote(text)}: port ${port} is out of range; use 0 (a free one) to ${LARGEST_PORT}`,
		);
	}
	if (name === "") return ok({ host: LOOPBACK, port });
	const bracketed = /^\[(.*)\]$/.exec(name)?.[1];
	const isValid =
		bracketed === undefined
			? isHost(name) && !isIPv6(name)
			: isIPv6(bracketed) && !bracketed.includes("%");
	if (isValid) return ok({ host: bracketed ?? name, port });
	return problem(
		isIPv6(name)
			? `${quote(text)}: write an IPv6 address in brackets, for example [::1]:${port}`
			: `${quote(text)} is not an address; use HOST:PORT, for example 127.0.0.1:${port}, or 0.0.0.0:${port} for all addresses of this machine`,
	);
}

/** Whether only programs on this machine can reach the server. */
export function isOnlyLocal({ host }: HttpAddress): boolean {
	return /^(127\.\d+\.\d+\.\d+|::1|localhost)$/i.test(host);
}

export function addressInWords({ host, port }: HttpAddress): string {
	return endpointOf(host, port);
}

/** Who can read a secret given at this origin (see `Setting`). */
export function exposure(origin: string): string {
	if (origin === "flag") return "visible to other users of this machine";
	return origin.startsWith("environment ")
		? "handed to every worker"
		: "in clear text for anybody who reads the file";
}
