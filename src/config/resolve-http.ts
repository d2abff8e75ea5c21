import { resolve } from "node:path";
import { readSmallFile } from "../base/read-small-file.js";
import type { HttpConfig } from "./agent-config.js";
import { OPTIONS } from "./options.js";
import { addressInWords, isOnlyLocal } from "./parse/http-address.js";
import type { Report, SettingReader } from "./settings.js";

/** The variable that may hold the token instead of `--http-token-file`. */
export const HTTP_TOKEN_VARIABLE = "ELASTIC_RUN_HTTP_TOKEN";

/** A shorter token can be guessed. */
const SHORTEST_TOKEN = 16;
/** Characters that a header can carry unchanged. */
const TOKEN = /^[!-~]+$/;
const HOW_TO_MAKE_ONE = "openssl rand -hex 32 makes a good one";

/** An empty variable counts as unset. */
export function httpTokenFromEnvironment(
	environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
	return environment[HTTP_TOKEN_VARIABLE] || undefined;
}

/** Where this node serves its status; undefined: nowhere. Reads the token file, opens nothing. */
export async function resolveHttp(
	reader: SettingReader,
	context: {
		/** Base of relative paths. */
		readonly cwd: string;
		/** The token from the variable, if variables are read at all. */
		readonly httpToken: string | undefined;
	},
	warn: Report,
): Promise<HttpConfig | undefined> {
	const { http, httpTokenFile } = OPTIONS;
	const address = reader.given(http);
	const file = reader.given(httpTokenFile);
	if (address === undefined) {
		if (file !== undefined && reader.textOf(http) === undefined) {
			warn(
				`${reader.placeOf(httpTokenFile)}: without effect; add --http HOST:PORT`,
			);
		}
		return undefined;
	}
	const inFile = file && (await readToken(reader, file, context.cwd));
	const source = file === undefined ? HTTP_TOKEN_VARIABLE : file;
	const token = file === undefined ? context.httpToken : inFile;
	const problem = token === undefined ? undefined : tokenProblem(token);
	if (problem !== undefined) {
		reader.refuse(httpTokenFile, `${source}: ${problem}; ${HOW_TO_MAKE_ONE}`);
	}
	if (file === undefined && token === undefined && !isOnlyLocal(address)) {
		const here = addressInWords({ ...address, host: "127.0.0.1" });
		reader.refuse(
			http,
			`${addressInWords(address)}: other machines can reach it, and it shows logs; give a token with --http-token-file PATH or the variable ${HTTP_TOKEN_VARIABLE}, or use ${here}`,
		);
	}
	return { ...address, token };
}

async function readToken(
	reader: SettingReader,
	file: string,
	cwd: string,
): Promise<string | undefined> {
	const read = await readSmallFile(resolve(cwd, file));
	if ("problem" in read) {
		reader.refuse(OPTIONS.httpTokenFile, `${file}: ${read.problem}`);
		return undefined;
	}
	// Editors end a file with a line break.
	return read.content.toString("utf8").replace(/\r?\n$/, "");
}

function tokenProblem(token: string): string | undefined {
	if (token.length < SHORTEST_TOKEN) {
		return `a token of ${token.length} characters can be guessed; use at least ${SHORTEST_TOKEN}`;
	}
	if (TOKEN.test(token)) return undefined;
	return "a token has letters, digits and signs of ASCII only, without blanks, on one line";
}
