import { isOnlyLocal } from "../config/parse/http-address.js";

/**
 * A page of another site can make a browser believe that the site's name means this machine, and then read answers under
 * that name. It cannot make the browser name this machine in `Host`.
 */
export interface HostRule {
	/** The configured host to listen on, without brackets. */
	readonly host: string;
	/** Every client must send it, which a browser does not do for such a page; undefined if there is none. */
	readonly token: string | undefined;
}

/** Why a request with this `Host` is refused, in words; undefined if it is allowed. */
export function hostProblem(
	header: string | undefined,
	{ host, token }: HostRule,
): string | undefined {
	const name = nameOf(header ?? "");
	if (name === undefined) {
		return "the Host header is missing or is no host; name the machine that you ask";
	}
	const isLocal = isOnlyLocal({ host, port: 0 });
	if (token !== undefined && !isLocal) return undefined;
	const isHere = isOnlyLocal({ host: name, port: 0 });
	if (isHere || name === host.toLowerCase()) return undefined;
	const names = [...new Set(["localhost", "127.0.0.1", host])].join(", ");
	return `this server is not ${name}: it answers as one of ${names} only (the port does not matter); for other names listen on an address of this machine with a token`;
}

/** Without brackets and port, in lower case; undefined if it is no host. */
function nameOf(header: string): string | undefined {
	const [, bracketed, plain] =
		/^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/i.exec(header) ?? [];
	return (bracketed ?? plain)?.toLowerCase();
}
