import { execFileSync } from "node:child_process";
import {
	mkdirSync,
	mkdtempSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import {
	parseErrorFile,
	readErrorFile,
} from "../../../src/status/error-file.js";

const directory = mkdtempSync(join(tmpdir(), "elastic-run-test-"));
afterAll(() => rmSync(directory, { recursive: true }));

describe("parseErrorFile", () => {
	it.each([
		['{"message":"text"}', { message: "text" }],
		['{"message":"text","stack":"at x"}', { message: "text", stack: "at x" }],
		[
			'{"message":{"message":"RuntimeError: x","extraInfo":{"py_callstack":"Traceback","timestamp":"1"}}}',
			{ message: "RuntimeError: x", stack: "Traceback" },
		],
		['{"message":{"message":"x","extraInfo":null}}', { message: "x" }],
		['{"message":{"message":1}}', undefined],
		["null", undefined],
		['{"message":"te', undefined],
	])("%s", (text, error) => {
		expect(parseErrorFile(text)).toEqual(error);
	});
});

describe("readErrorFile", () => {
	const write = (name: string, text: string) => {
		const path = join(directory, name);
		writeFileSync(path, text);
		return path;
	};

	it("reads the file", () => {
		expect(readErrorFile(write("good", '{"message":"ä"}'))).toEqual({
			message: "ä",
		});
	});

	it("has no error of what is absent, too large, no file, a link or a pipe", () => {
		const good = write("real", '{"message":"x"}');
		const large = write("large", `{"message":"${"x".repeat(1 << 20)}"}`);
		const link = join(directory, "link");
		symlinkSync(good, link);
		const folder = join(directory, "folder");
		mkdirSync(folder);
		const pipe = join(directory, "pipe");
		execFileSync("mkfifo", [pipe]);
		for (const path of [join(directory, "absent"), large, link, folder, pipe]) {
			expect(readErrorFile(path)).toBeUndefined();
		}
	});
});
