import { isIPv6 } from "node:net";
import { exposure } from "./exposure.js";
import { isHost } from "./nodes.js";
import { allOf, invalid, ok, type Parsed, problem, quote } from "./parsed.js";
import { wholeNumber } from "./scalars.js";

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

/**
 * `HOST:PORT[,…]`. Each may begin with `http://`, which is dropped, or `https://`.
 * @param defaultPort for an entry without a port; undefined: such an entry is refused
 */
export function parseEndpoints(
	text: string,
	origin: string,
	defaultPort?: number,
): Parsed<readonly string[]> {
	const entries = text.split(",");
	return allOf(
		entries.map((entry) => parseEndpoint(entry.trim(), origin, defaultPort)),
	);
}

function parseEndpoint(
	entry: string,
	origin: string,
	defaultPort: number | undefined,
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
	const parsed = parseAddress(address, defaultPort);
	if (!("value" in parsed)) return parsed;
	return ok(scheme === "https" ? `${HTTPS}${parsed.value}` : parsed.value);
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
function parseAddress(
	address: string,
	defaultPort: number | undefined,
): Parsed<string> {
	if (isIPv6(address) || (address.match(/:/g) ?? []).length > 1) {
		const bracketed = /^\[([^\]]*)\](?::(.*))?$/.exec(address);
		if (bracketed === null) {
			return problem(
				`${quote(address)}: write an IPv6 address in brackets, for example [::1]:2379`,
			);
		}
		const [, host = "", port = defaultPort] = bracketed;
		return isIPv6(host)
			? withPort(`[${host}]`, port?.toString())
			: badHost(address);
	}
	const [host = "", port = defaultPort] = address.split(":");
	return isHost(host) ? withPort(host, port?.toString()) : badHost(address);
}

function withPort(host: string, port: string | undefined): Parsed<string> {
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
	if (!(number >= 1 && number <= LARGEST_PORT)) {
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
