import { isIPv6 } from "node:net";
import { isHost } from "./nodes.js";
import { ok, type Parsed, problem, quote } from "./parsed.js";
import { wholeNumber } from "./scalars.js";

const LARGEST_PORT = 65_535;
/** The host that `:PORT` means. */
const LOOPBACK = "127.0.0.1";

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

/** The address as in a URL. */
export function addressInWords({ host, port }: HttpAddress): string {
	return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}
