import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { lastLines } from "../../../src/logs/last-lines.js";

const directory = mkdtempSync(join(tmpdir(), "elastic-run-test-"));
afterAll(() => rmSync(directory, { recursive: true }));

const path = join(directory, "stderr.log");
const linesOf = (text: string | Buffer, options = {}) => {
	writeFileSync(path, text);
	return lastLines(path, options);
};

describe("lastLines", () => {
	it.each([
		["nothing", "", []],
		["few", "a\nb\n", ["a", "b"]],
		["no newline at the end", "a\nb", ["a", "b"]],
		["empty lines at the end", "a\n\nb\n\n \n", ["a", "", "b"]],
		[
			"colours and the rest",
			"\x1b[31ma\x1b[0m\x1b]0;t\x07\n1%\r2%\n",
			["a", "2%"],
		],
	])("%s", (_name, text, lines) => {
		expect(linesOf(text)).toEqual(lines);
	});

	it("gives no more than asked", () => {
		const text = Array.from({ length: 50 }, (_, n) => `${n}\n`).join("");
		expect(linesOf(text)).toHaveLength(20);
		expect(linesOf(text, { count: 2 })).toEqual(["48", "49"]);
	});

	it("reads only the end, from a whole line on", () => {
		const lines = linesOf(`${"x".repeat(999)}\n`.repeat(1_000), {
			count: 1_000,
		});
		expect(lines).toHaveLength(65);
		expect(new Set(lines)).toEqual(new Set(["x".repeat(999)]));
	});

	it("gives the end of a single line that is longer than that", () => {
		expect(linesOf("y".repeat(200_000)).join("")).toBe("y".repeat(65_536));
	});

	it("leaves out what an earlier process wrote", () => {
		expect(linesOf("old\nnew\n", { from: 4 })).toEqual(["new"]);
		expect(linesOf("old\n", { from: 4 })).toEqual([]);
	});

	it("never throws", () => {
		expect(lastLines(join(directory, "absent"))).toEqual([]);
		expect(lastLines(directory)).toEqual([]);
	});
});
