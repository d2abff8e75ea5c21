import { isOnlyLocal } from "../configuration/parse/http-address.js";

/**
 * A page of another site can make a browser believe that the site's own name
 * stands for this machine, and then read what is answered under it. It cannot
 * make the browser name this machine in `Host`.
 */
export interface HostRule {
	/** The host that was given to listen on, without brackets. */
	readonly host: string;
	/** Whoever asks must show it, which a browser does not do for such a page; undefined: nobody need. */
	readonly token: string | undefined;
}

/** Why a request with this `Host` is not answered, in words; undefined: it is. */
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

/** Without brackets and port, in small letters; undefined where it is no host. */
function nameOf(header: string): string | undefined {
	const [, bracketed, plain] =
		/^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/i.exec(header) ?? [];
	return (bracketed ?? plain)?.toLowerCase();
}
