import { expect, test } from "vitest";
import { readAnswer } from "../../../src/notices/sources/read-answer.js";

const read = (text: string, isEnded = false) =>
	readAnswer(Buffer.from(text), isEnded);
const OK = "HTTP/1.1 200 OK\r\n";

test.each([
	["a length", `${OK}Content-Length: 4\r\n\r\nTRUE`, "TRUE", true],
	[
		"chunks",
		`${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nTR\r\n2;x=1\r\nUE\r\n0\r\n\r\n`,
		"TRUE",
		true,
	],
	[
		"trailers",
		`${OK}Transfer-Encoding: chunked\r\n\r\n1\r\nT\r\n0\r\na: b\r\n\r\n`,
		"T",
		true,
	],
	["its end", `${OK}\r\nTRUE`, "TRUE", false],
	["no body", "HTTP/1.1 204 No Content\r\n\r\n", "", true],
	[
		"one before it",
		`HTTP/1.1 100 Continue\r\n\r\n${OK}Content-Length: 0\r\n\r\n`,
		"",
		true,
	],
	[
		"Connection: close",
		`${OK}connection: Close\r\ncontent-length: 1\r\n\r\nT`,
		"T",
		false,
	],
	["HTTP/1.0", "HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\nT", "T", false],
	["letters of several bytes", `${OK}content-length: 3\r\n\r\né!`, "é!", true],
] as const)("P1 an answer with %s", (_, text, body, isKept) => {
	const isEnded = !/length|chunked|204/i.test(text);
	expect(read(text, isEnded)).toMatchObject({ answer: { body }, isKept });
	// Whatever a part of it says, it is not taken for the whole.
	for (let end = 0; end < Buffer.byteLength(text); end += 1) {
		expect(readAnswer(Buffer.from(text).subarray(0, end), false)).toBe(
			undefined,
		);
	}
});

test("P1 its status and headers, whatever their case", () => {
	const text =
		"HTTP/1.1 404 Not Found\r\nETag: a:1\r\nX: 1\r\nx: 2\r\nContent-Length: 0\r\n\r\n";
	expect(read(text)?.answer).toMatchObject({
		status: 404,
		headers: { etag: "a:1", x: "1, 2" },
	});
	const odd = read(`${OK}__proto__: 1\r\ncontent-length: 0\r\n\r\n`);
	expect(Object.keys(odd?.answer.headers ?? {})).toContain("__proto__");
});

test.each([
	["SSH-2.0-OpenSSH\r\n\r\n", "no HTTP"],
	["HTTP/2 200 OK\r\n\r\n", "no HTTP"],
	[`${OK}no colon\r\n\r\n`, "no HTTP"],
	[`${OK}content-length: -1\r\n\r\n`, "no HTTP"],
	[`${OK}content-length: 300000\r\n\r\n`, "more than 256 KiB"],
	[`${OK}transfer-encoding: chunked\r\n\r\nzz\r\n`, "no HTTP"],
	[`${OK}transfer-encoding: chunked\r\n\r\nffffff\r\n`, "more than 256 KiB"],
	[`${OK}\r\n${"x".repeat(300_000)}`, "more than 256 KiB"],
	[`${OK}${"x".repeat(20_000)}`, "larger than 16 KiB"],
])("P1 no answer: %j", (text, words) =>
	expect(() => read(text)).toThrow(words));

test.each([
	`${OK}content-length: 5\r\n\r\nTRUE`,
	`${OK}transfer-encoding: chunked\r\n\r\n4\r\nTRUE\r\n`,
	"HTTP/1.1 200",
])("P1 a part of an answer is none when the server ends: %j", (text) =>
	expect(() => read(text, true)).toThrow("only a part"));
