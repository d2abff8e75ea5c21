import { type Answer, type Asked, words } from "./answer.js";
import { type HostRule, hostProblem } from "./host-check.js";
import { bearerOf, cookieOf, isToken, passOf } from "./secret.js";

/** More than anybody here needs to say. */
const LONGEST_BODY_BYTES = 1024;

/**
 * Who gets an answer. `anybody`: also without the token; `reader`: with the
 * token, or the browser that has shown it once; `holder`: with the token in a
 * header, which no page of another site can make a browser send.
 */
export type Need = "anybody" | "reader" | "holder";

export interface Route {
	readonly methods: readonly string[];
	readonly need: Need;
}

export interface AccessRule extends HostRule {
	/** Tells the servers of one machine apart: browsers send cookies to all of its ports. */
	readonly port: number;
}

/** Who asks, as far as that is known: `holder` has shown the token itself. */
export type Standing = "nobody" | "reader" | "holder";

/** Without a token everybody who reaches the server may read, and nobody may do anything. */
export function standingOf(asked: Asked, rule: AccessRule): Standing {
	const { token } = rule;
	if (token === undefined) return "reader";
	if (isToken(bearerOf(asked.authorization), token)) return "holder";
	const pass = cookieOf(asked.cookie, cookieName(rule));
	return isToken(pass, passOf(token)) ? "reader" : "nobody";
}

/** Why a request gets no more than this; undefined: it is let through. */
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
			"who controls a run shows a token, and this launcher has none; start it with --http-token-file PATH or ELASTIC_RUN_HTTP_TOKEN",
		);
	}
	const how =
		need === "holder"
			? "the token is needed in a header: Authorization: Bearer TOKEN"
			: "the token is needed: Authorization: Bearer TOKEN, or in a browser /?token=TOKEN once";
	return words(401, how, { "WWW-Authenticate": 'Bearer realm="elastic-run"' });
}

/**
 * `/?token=TOKEN`: the browser gets a cookie in its place, and a URL without it,
 * which may be seen and kept. Undefined where none is given.
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
