import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { isOnlyLocal } from "../config/index.js";
import { type Answer, type HttpRequest, words } from "./answer.js";

/** Longer than any request here needs. */
const LONGEST_BODY_BYTES = 1024;

/**
 * The access that an answer requires. `anybody`: no token; `reader`: the token, or a browser that has shown it once;
 * `holder`: the token in a header, which no page of another site can make a browser send.
 */
export type Need = "anybody" | "reader" | "holder";

export interface Route {
	readonly methods: readonly string[];
	readonly need: Need;
}

export interface AccessRule extends HostRule {
	/** Distinguishes the servers of one machine: browsers send cookies to all of its ports. */
	readonly port: number;
}

/** The identity of a client, as far as it is known: `holder` has shown the token itself. */
export type Standing = "nobody" | "reader" | "holder";

/** Without a token everybody who reaches the server may read, and nobody may change anything. */
export function standingOf(request: HttpRequest, rule: AccessRule): Standing {
	const { token } = rule;
	if (token === undefined) return "reader";
	if (isToken(bearerOf(request.authorization), token)) return "holder";
	const pass = cookieOf(request.cookie, cookieName(rule));
	return isToken(pass, passOf(token)) ? "reader" : "nobody";
}

/** Why a request is refused; undefined if it is allowed. */
export function refusalOf(
	request: HttpRequest,
	route: Route | undefined,
	rule: AccessRule,
): Answer | undefined {
	const problem = hostProblem(request.host, rule);
	if (problem !== undefined) {
		return words(request.host === undefined ? 400 : 421, problem);
	}
	if (route === undefined) {
		return words(
			404,
			"not found; there are /, /status, /metrics, /healthz and /readyz",
		);
	}
	if (!route.methods.includes(request.method)) {
		const Allow = route.methods.join(", ");
		return words(405, `use ${Allow}`, { Allow });
	}
	const { length = Number.NaN } = request;
	if (!(length <= LONGEST_BODY_BYTES)) {
		return words(413, `at most ${LONGEST_BODY_BYTES} bytes, said in advance`);
	}
	return refusalByStanding(route.need, standingOf(request, rule), rule);
}

function refusalByStanding(
	need: Need,
	standing: Standing,
	{ token }: AccessRule,
): Answer | undefined {
	if (need === "anybody" || standing === "holder") return undefined;
	if (need === "reader" && standing === "reader") return undefined;
	if (token === undefined) {
		return words(
			403,
			"controlling a run needs a token, and this launcher has none; start it with --http-token-file PATH or ELASTIC_RUN_HTTP_TOKEN",
		);
	}
	const how =
		need === "holder"
			? "the token is needed in a header: Authorization: Bearer TOKEN"
			: "the token is needed: Authorization: Bearer TOKEN, or in a browser /?token=TOKEN once";
	return words(401, how, { "WWW-Authenticate": 'Bearer realm="elastic-run"' });
}

/**
 * `/?token=TOKEN`: gives the browser a cookie and a URL without the token, which others may see or keep. Undefined if the
 * URL has no token.
 */
export function welcome(
	request: HttpRequest,
	rule: AccessRule,
): Answer | undefined {
	const { token } = rule;
	const shown = request.query.get("token");
	if (request.path !== "/" || shown === null || token === undefined) {
		return undefined;
	}
	if (!isToken(shown, token)) return words(401, "this is not the token");
	return words(303, "go to /", {
		Location: "/",
		"Set-Cookie": `${cookieName(rule)}=${passOf(token)}; Path=/; HttpOnly; SameSite=Strict`,
	});
}

function cookieName({ port }: Pick<AccessRule, "port">): string {
	return `elastic-run-${port}`;
}

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

/** Whether a text is the token, in a time that does not depend on where they differ. */
function isToken(text: string | undefined, token: string): boolean {
	return text !== undefined && timingSafeEqual(digest(text), digest(token));
}

/** The value of a browser's cookie. It opens only the page, and the token cannot be derived from it. */
export function passOf(token: string): string {
	return createHmac("sha256", token)
		.update("elastic-run page")
		.digest("base64url");
}

/** The token of `Authorization: Bearer TOKEN`; undefined if there is none. */
function bearerOf(authorization: string | undefined) {
	return /^Bearer +([!-~]+) *$/i.exec(authorization ?? "")?.[1];
}

function cookieOf(
	header: string | undefined,
	name: string,
): string | undefined {
	const prefix = `${name}=`;
	return header
		?.split(";")
		.map((pair) => pair.trim())
		.find((pair) => pair.startsWith(prefix))
		?.slice(prefix.length);
}

function digest(text: string): Buffer {
	return createHash("sha256").update(text).digest();
}
