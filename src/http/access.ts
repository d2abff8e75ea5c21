import { type Answer, type Asked, words } from "./answer.js";
import { type HostRule, hostProblem } from "./host-check.js";
import { bearerOf, cookieOf, isToken, passOf } from "./secret.js";

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
export function standingOf(asked: Asked, rule: AccessRule): Standing {
	const { token } = rule;
	if (token === undefined) return "reader";
	if (isToken(bearerOf(asked.authorization), token)) return "holder";
	const pass = cookieOf(asked.cookie, cookieName(rule));
	return isToken(pass, passOf(token)) ? "reader" : "nobody";
}

/** Why a request is refused; undefined if it is allowed. */
export function refusalOf(
	asked: Asked,
	route: Route | undefined,
	rule: AccessRule,
): Answer | undefined {
	const problem = hostProblem(asked.host, rule);
	if (problem !== undefined) {
		return words(asked.host === undefined ? 400 : 421, problem);
	}
	if (route === undefined) {
		return words(
			404,
			"not found; there are /, /status, /metrics, /healthz and /readyz",
		);
	}
	if (!route.methods.includes(asked.method)) {
		const Allow = route.methods.join(", ");
		return words(405, `use ${Allow}`, { Allow });
	}
	const { length = Number.NaN } = asked;
	if (!(length <= LONGEST_BODY_BYTES)) {
		return words(413, `at most ${LONGEST_BODY_BYTES} bytes, said in advance`);
	}
	return refusalByStanding(route.need, standingOf(asked, rule), rule);
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
export function welcome(asked: Asked, rule: AccessRule): Answer | undefined {
	const { token } = rule;
	const shown = asked.query.get("token");
	if (asked.path !== "/" || shown === null || token === undefined) {
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
