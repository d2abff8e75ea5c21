import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { extname, resolve } from "node:path";
import type { RunCommand } from "../model/run.js";

const SCRIPT_NAMES = new Set([
	...[".js", ".mjs", ".cjs", ".ts", ".py"],
	...[".sh", ".bash", ".pl", ".rb", ".lua", ".r", ".R", ".jl"],
]);
/** The longest form of a command in a message. */
const LONGEST_WORDS = 200;
/** Larger than any script. For a larger file only its beginning and its size count. */
const LARGEST_BYTES = 16 * 1024 * 1024;

/** Identifies what is run, equally on every machine that runs the same. */
export async function identifyCommand(
	typed: readonly string[],
	cwd: string,
): Promise<RunCommand> {
	return {
		words: inWords(typed),
		argumentsDigest: createHash("sha256")
			.update(JSON.stringify(typed))
			.digest("hex"),
		scriptDigest: await digestScript(typed, cwd),
	};
}

function inWords(typed: readonly string[]): string {
	const words = typed.map((word, index) =>
		withoutSecret(word, typed[index - 1]),
	);
	const text = words.join(" ").replaceAll(/\p{Cc}/gu, " ");
	return text.length > LONGEST_WORDS
		? `${text.slice(0, LONGEST_WORDS)}…`
		: text;
}

/** Hides the secret in `--token=…` and after `--token`. */
function withoutSecret(word: string, before = ""): string {
	const at = word.indexOf("=");
	if (at > 0) {
		const name = word.slice(0, at);
		return `${name}=${hideSecret(name, word.slice(at + 1))}`;
	}
	const isValue = before.startsWith("-") && !word.startsWith("-");
	return hideSecret(isValue ? before : "", word);
}

/** The digest of the first word that names a script here. A program found on PATH may differ between machines. */
async function digestScript(
	typed: readonly string[],
	cwd: string,
): Promise<string> {
	for (const [index, word] of typed.entries()) {
		const isPath = index === 0 && word.includes("/");
		if (!isPath && !SCRIPT_NAMES.has(extname(word))) continue;
		const digest = await digestFile(resolve(cwd, word));
		if (digest !== undefined) return digest;
	}
	return "";
}

/** The digest of a file's content; undefined if there is no such file, or if it cannot be read. */
export async function digestFile(path: string): Promise<string | undefined> {
	try {
		const file = await stat(path);
		if (!file.isFile()) return undefined;
		const hash = createHash("sha256");
		const part = createReadStream(path, { end: LARGEST_BYTES - 1 });
		for await (const bytes of part) hash.update(bytes);
		if (file.size > LARGEST_BYTES) hash.update(String(file.size));
		return hash.digest("hex");
	} catch {
		return undefined;
	}
}

const SECRET_NAME = /pass|token|secret|key|credential|authorization|cookie/i;
const PASSWORD_IN_URL = /(:\/\/[^\s:/@]*):[^\s/@]+@/g;

const REDACTED = "(redacted)";

/** A variable's value as it may be shown: hidden if its name suggests a secret, and without the password of a URL. */
export function hideSecret(name: string, value: string): string {
	return SECRET_NAME.test(name)
		? REDACTED
		: value.replaceAll(PASSWORD_IN_URL, `$1:${REDACTED}@`);
}
