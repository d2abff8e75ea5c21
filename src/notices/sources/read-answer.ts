import type { Answer } from "./exchange.js";

/** More than any answer of a metadata service. */
const LARGEST_BYTES = 256 * 1024;
const LARGEST_HEAD_BYTES = 16 * 1024;
const LINE = "\r\n";
const HEAD_END = "\r\n\r\n";
const STATUS_LINE = /^HTTP\/1\.([01]) (\d{3})(?: |$)/;
const NO_HTTP = "something that is no HTTP";

export interface ReadAnswer {
	readonly answer: Answer;
	/** Whether the connection may be used again. */
	readonly isKept: boolean;
}

/**
 * The HTTP answer in what a server has sent so far; undefined if it is not whole yet.
 * @param isEnded the server sends no more
 * @throws Error, in words, if it is none, or too large
 */
export function readAnswer(
	sent: Buffer,
	isEnded: boolean,
): ReadAnswer | undefined {
	const end = sent.indexOf(HEAD_END);
	if (end > LARGEST_HEAD_BYTES || (end < 0 && sent.length > LARGEST_HEAD_BYTES))
		throw new Error(
			`the head of its answer is larger than ${LARGEST_HEAD_BYTES / 1024} KiB`,
		);
	if (end < 0) {
		if (isEnded) throw new Error("only a part of an answer");
		return undefined;
	}
	const [first = "", ...lines] = sent.toString("latin1", 0, end).split(LINE);
	const [, minor, digits] = STATUS_LINE.exec(first) ?? [];
	if (digits === undefined) throw new Error(NO_HTTP);
	const rest = sent.subarray(end + HEAD_END.length);
	const status = Number(digits);
	// "Continue" and its like come before the answer.
	if (status < 200) return readAnswer(rest, isEnded);
	const headers = headersIn(lines);
	const body = bodyIn(rest, { status, headers, isEnded });
	if (body === undefined) return undefined;
	const isKept =
		minor === "1" &&
		!isEnded &&
		body.isBounded &&
		!/\bclose\b/i.test(headers.connection ?? "");
	return { answer: { status, headers, body: body.text }, isKept };
}

function headersIn(lines: readonly string[]): Record<string, string> {
	const headers: Record<string, string> = Object.create(null);
	for (const line of lines) {
		const at = line.indexOf(":");
		if (at < 1) throw new Error(NO_HTTP);
		const name = line.slice(0, at).toLowerCase();
		const value = line.slice(at + 1).trim();
		const before = headers[name];
		headers[name] = before === undefined ? value : `${before}, ${value}`;
	}
	return headers;
}

interface Body {
	readonly text: string;
	/** It says itself where it ends. */
	readonly isBounded: boolean;
}

function bodyIn(
	rest: Buffer,
	about: Pick<Answer, "status" | "headers"> & { readonly isEnded: boolean },
): Body | undefined {
	const { status, headers, isEnded } = about;
	if (status === 204 || status === 304) return { text: "", isBounded: true };
	if (rest.length > LARGEST_BYTES) throw tooLarge();
	const length = headers["content-length"];
	const isChunked = headers["transfer-encoding"] !== undefined;
	if (!isChunked && length === undefined) {
		return isEnded ? { text: rest.toString(), isBounded: false } : undefined;
	}
	const body = isChunked ? chunksIn(rest) : partOf(rest, length ?? "");
	if (body !== undefined) return { text: body.toString(), isBounded: true };
	if (isEnded) throw new Error("only a part of an answer");
	return undefined;
}

/** Undefined if it is not whole yet. */
function partOf(rest: Buffer, length: string): Buffer | undefined {
	if (!/^\d{1,15}$/.test(length)) throw new Error(NO_HTTP);
	if (Number(length) > LARGEST_BYTES) throw tooLarge();
	return rest.length < Number(length)
		? undefined
		: rest.subarray(0, Number(length));
}

/** Undefined if the last chunk is not there yet. What follows it is left out. */
function chunksIn(rest: Buffer): Buffer | undefined {
	const chunks: Buffer[] = [];
	for (let at = 0; ; ) {
		const end = rest.indexOf(LINE, at);
		if (end < 0) return undefined;
		const [, digits] =
			/^([\da-f]{1,8})\s*(?:;|$)/i.exec(rest.toString("latin1", at, end)) ?? [];
		if (digits === undefined) throw new Error(NO_HTTP);
		const size = Number.parseInt(digits, 16);
		if (size > LARGEST_BYTES) throw tooLarge();
		const from = end + LINE.length;
		if (size === 0) {
			// An empty line, perhaps after trailers.
			const isWhole = rest.indexOf(HEAD_END, end) >= 0;
			return isWhole ? Buffer.concat(chunks) : undefined;
		}
		if (rest.length < from + size + LINE.length) return undefined;
		chunks.push(rest.subarray(from, from + size));
		at = from + size + LINE.length;
	}
}

function tooLarge(): Error {
	return new Error(`an answer of more than ${LARGEST_BYTES / 1024} KiB`);
}
