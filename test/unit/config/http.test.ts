import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { OPTIONS } from "../../../src/config/options.js";
import {
	addressInWords,
	isOnlyLocal,
	parseHttpAddress,
} from "../../../src/config/parse/endpoints.js";
import { resolveHttp } from "../../../src/config/resolve-run.js";
import { SettingReader } from "../../../src/config/settings.js";
import { temporaryFolder } from "../../helpers/processes.js";

const folder = temporaryFolder();
afterAll(() => folder.remove());
const TOKEN = "0123456789abcdef";
for (const [name, content] of Object.entries({
	good: `${TOKEN}\n`,
	windows: `${TOKEN}\r\n`,
	short: "abc\n",
	lines: `${TOKEN}\n${TOKEN}\n`,
	blank: "0123456789 abcdef",
})) {
	writeFileSync(join(folder.path, name), content);
}

test.each([
	[":8080", "127.0.0.1:8080", true],
	[":0", "127.0.0.1:0", true],
	["localhost:80", "localhost:80", true],
	["[::1]:80", "[::1]:80", true],
	["0.0.0.0:80", "0.0.0.0:80", false],
	["node-a.example:80", "node-a.example:80", false],
	// A name that only looks like this machine's.
	["127.0.0.1.example:80", "127.0.0.1.example:80", false],
])("--http %s listens on %s, for this machine alone: %s", (text, words, isLocal) => {
	const parsed = parseHttpAddress(text);
	if (!("value" in parsed)) throw new Error(parsed.problems.join());
	expect(addressInWords(parsed.value)).toBe(words);
	expect(isOnlyLocal(parsed.value)).toBe(isLocal);
});

test.each([
	[
		"8080",
		/^"8080": host missing; use :8080 for this machine alone, or HOST:8080$/,
	],
	["localhost", /"localhost": port missing/],
	["localhost:http", /^"localhost:http": "http" is no port; use HOST:PORT/],
	[":65536", /port 65536 is out of range; use 0 \(a free one\) to 65535$/],
	["[127.0.0.1]:80", /is not an address/],
	["*:80", /"\*:80" is not an address; .* 0\.0\.0\.0:80 for all/],
])("--http %s is refused", (text, words) => {
	const parsed = parseHttpAddress(text);
	expect("problems" in parsed && parsed.problems[0]).toMatch(words);
});

async function resolved(http?: string, file?: string, httpToken?: string) {
	const settings = [
		[OPTIONS.http.key, http],
		[OPTIONS.httpTokenFile.key, file],
	].flatMap(([key = "", text]) =>
		text === undefined
			? []
			: [[key, { text, place: `--${key}`, origin: "" }] as const],
	);
	const said: string[] = [];
	const reader = new SettingReader(
		new Map(settings),
		(words) => said.push(words),
		({ name }) => `--${name}`,
	);
	const config = await resolveHttp(
		reader,
		{ cwd: folder.path, httpToken },
		(words) => said.push(`warning: ${words}`),
	);
	return { config, said: said.join("\n") };
}

test.each([
	["nothing", [], undefined],
	["loopback", [":1"], { host: "127.0.0.1", port: 1, token: undefined }],
	["a file", [":1", "good"], { host: "127.0.0.1", port: 1, token: TOKEN }],
	[
		"another editor's file",
		[":1", "windows"],
		{ host: "127.0.0.1", port: 1, token: TOKEN },
	],
	[
		"the variable",
		["0.0.0.0:1", undefined, TOKEN],
		{ host: "0.0.0.0", port: 1, token: TOKEN },
	],
	[
		"the file before the variable",
		["0.0.0.0:1", "good", "another one, not even valid"],
		{ host: "0.0.0.0", port: 1, token: TOKEN },
	],
] as const)("%s", async (_, [http, file, token], config) => {
	expect(await resolved(http, file, token)).toEqual({ config, said: "" });
});

test.each([
	[
		["0.0.0.0:1"],
		/^--http: 0\.0\.0\.0:1: other machines can reach it, and it shows logs; give a token with --http-token-file PATH or the variable ELASTIC_RUN_HTTP_TOKEN, or use 127\.0\.0\.1:1$/,
	],
	[[":1", "absent"], /--httpTokenFile: absent: no such file; check the path/],
	[
		[":1", "short"],
		/short: a token of 3 characters can be guessed; use at least 16; openssl/,
	],
	[[":1", "lines"], /lines: a token has letters, .* on one line/],
	[[":1", "blank"], /without blanks/],
	[
		[":1", undefined, "short"],
		/^--http-token-file: ELASTIC_RUN_HTTP_TOKEN: a token of 5/,
	],
	[
		[undefined, "good"],
		/^warning: --httpTokenFile: without effect; add --http HOST:PORT$/,
	],
] as const)("%j says what is wrong, and the fix", async ([
	http,
	file,
	token,
], words) => {
	const { said } = await resolved(http, file, token);
	expect(said).toMatch(words);
	expect(said).not.toContain(TOKEN);
});
