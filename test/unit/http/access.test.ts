import { describe, expect, it } from "vitest";
import {
	type AccessRule,
	hostProblem,
	type Need,
	passOf,
	refusalOf,
	standingOf,
	welcome,
} from "../../../src/http/access.js";
import type { HttpRequest } from "../../../src/http/answer.js";

const TOKEN = "0123456789abcdef";
const OPEN: AccessRule = { host: "127.0.0.1", port: 80, token: undefined };
const LOCKED: AccessRule = { ...OPEN, token: TOKEN };
const PASS = `elastic-run-80=${passOf(TOKEN)}`;

function asking(
	change: Partial<HttpRequest> & { readonly url?: string } = {},
): HttpRequest {
	const { url = "/status", ...others } = change;
	const [path = "", query = ""] = url.split("?");
	return {
		method: "GET",
		path,
		query: new URLSearchParams(query),
		host: "localhost:80",
		authorization: undefined,
		cookie: undefined,
		length: 0,
		...others,
	};
}
const need = (need: Need) => ({ methods: ["GET"], need });

describe("Host", () => {
	it.each([
		["localhost", true],
		// A tunnel ends at another port.
		["LOCALHOST:9000", true],
		["127.8.8.8", true],
		["[::1]:80", true],
		["evil.example", false],
		["localhost.evil.example", false],
		["evil.example:80@localhost", false],
		["localhost, evil.example", false],
		["10.0.0.1:80", false],
		["[::1", false],
		[undefined, false],
	])("%s is answered on loopback: %s, with a token or without", (host, isIt) => {
		for (const { token } of [OPEN, LOCKED]) {
			const problem = hostProblem(host, { host: "127.0.0.1", token });
			expect(problem === undefined).toBe(isIt);
		}
	});

	it.each([
		["node-a.example", "node-a.example:80", true],
		["0.0.0.0", "node-a.example", true],
		["::", "service.namespace.svc:8080", true],
		["0.0.0.0", "a host/with:more", false],
	])("listening on %s with a token, %s is answered: %s", (host, header, isIt) => {
		const problem = hostProblem(header, { host, token: TOKEN });
		expect(problem === undefined).toBe(isIt);
	});
});

describe("who asks", () => {
	it.each<[string, Partial<HttpRequest>, string]>([
		["nothing", {}, "nobody"],
		["the token", { authorization: `Bearer ${TOKEN}` }, "holder"],
		["in small letters", { authorization: `bearer ${TOKEN}` }, "holder"],
		["another token", { authorization: `Bearer ${TOKEN}0` }, "nobody"],
		["another scheme", { authorization: `Basic ${TOKEN}` }, "nobody"],
		["the pass", { cookie: PASS }, "reader"],
		[
			"the pass of another port",
			{ cookie: PASS.replace("80", "81") },
			"nobody",
		],
		["the token as a cookie", { cookie: `elastic-run-80=${TOKEN}` }, "nobody"],
		[
			"the pass as a token",
			{ authorization: `Bearer ${passOf(TOKEN)}` },
			"nobody",
		],
	])("with %s", (_, change, standing) => {
		expect(standingOf(asking(change), LOCKED)).toBe(standing);
	});

	it("reads without a token where none is asked for, and holds nothing", () => {
		const shown = asking({ authorization: `Bearer ${TOKEN}` });
		expect(standingOf(shown, OPEN)).toBe("reader");
	});
});

describe("a request", () => {
	const holder = { authorization: `Bearer ${TOKEN}` };
	const reader = { cookie: PASS };

	it.each<[string, Partial<HttpRequest>, Need, AccessRule, number | undefined]>(
		[
			["a reader reads", {}, "reader", OPEN, undefined],
			["nobody does", {}, "holder", OPEN, 403],
			["nobody reads", {}, "reader", LOCKED, 401],
			["the browser reads", reader, "reader", LOCKED, undefined],
			["the browser does nothing", reader, "holder", LOCKED, 401],
			["the holder reads", holder, "reader", LOCKED, undefined],
			["the holder does", holder, "holder", LOCKED, undefined],
			["another host", { host: "evil.example" }, "anybody", OPEN, 421],
			["no host", { host: undefined }, "anybody", OPEN, 400],
			["another method", { method: "DELETE" }, "anybody", OPEN, 405],
			["a large body", { length: 1025 }, "anybody", OPEN, 413],
			["a body of unknown length", { length: undefined }, "anybody", OPEN, 413],
			["a small body", { length: 1024 }, "anybody", OPEN, undefined],
		],
	)("%s", (_, change, needed, rule, status) => {
		const refusal = refusalOf(asking(change), need(needed), rule);
		expect(refusal?.status).toBe(status);
		expect(String(refusal?.body ?? "")).not.toContain(TOKEN);
	});

	it("for what is not there gets 404, for a method that is not 405 with those that are", () => {
		expect(refusalOf(asking(), undefined, OPEN)?.status).toBe(404);
		const answer = refusalOf(asking({ method: "PUT" }), need("anybody"), OPEN);
		expect(answer).toMatchObject({ status: 405, headers: { Allow: "GET" } });
	});

	it("without the token it needs is told how to show it", () => {
		const answer = refusalOf(asking(), need("reader"), LOCKED);
		expect(answer?.headers).toHaveProperty("WWW-Authenticate");
		const control = refusalOf(asking(), need("holder"), OPEN);
		expect(control?.body).toContain("--http-token-file");
	});
});

describe("/?token=", () => {
	it("gives a cookie that is not the token, and a URL without it", () => {
		const answer = welcome(asking({ url: `/?token=${TOKEN}` }), LOCKED);
		expect(answer).toMatchObject({ status: 303, headers: { Location: "/" } });
		const cookie = answer?.headers?.["Set-Cookie"] ?? "";
		expect(cookie).toMatch(/; HttpOnly; SameSite=Strict$/);
		expect(cookie).not.toContain(TOKEN);
		const [pair] = cookie.split(";");
		expect(standingOf(asking({ cookie: pair }), LOCKED)).toBe("reader");
	});

	it("is refused where it is another one", () => {
		const answer = welcome(asking({ url: "/?token=0" }), LOCKED);
		expect(answer?.status).toBe(401);
		expect(answer?.headers).toBeUndefined();
	});

	it.each([
		["/", LOCKED],
		[`/status?token=${TOKEN}`, LOCKED],
		[`/?token=${TOKEN}`, OPEN],
	])("%s is no greeting", (url, rule) => {
		expect(welcome(asking({ url }), rule)).toBeUndefined();
	});
});
