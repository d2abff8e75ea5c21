import { describe, expect, test } from "vitest";
import {
	parseLocalAddress,
	parseNodeRange,
	parseWorkerCount,
} from "../../../src/config/parse/nodes.js";
import { outcome } from "./outcome.js";

describe("--nnodes", () => {
	test.each([
		["1", { min: 1, max: 1 }],
		["1:4", { min: 1, max: 4 }],
		["4:4", { min: 4, max: 4 }],
	])("%s", (text, range) => {
		expect(outcome(parseNodeRange(text))).toEqual(range);
	});

	test.each([
		["a", '"a" is not valid; use N or MIN:MAX, for example 2 or 1:4'],
		["1:2:3", expect.stringContaining("is not valid")],
		["1:", expect.stringContaining("is not valid")],
		["-1", expect.stringContaining("is not valid")],
		["3:1", '"3:1": MIN is larger than MAX; use MIN:MAX, for example 1:3'],
		["0", '"0": MIN must be at least 1; use 1'],
		["0:4", '"0:4": MIN must be at least 1; use 1:4'],
	])("not %s", (text, words) => {
		expect(outcome(parseNodeRange(text))).toEqual(words);
	});
});

describe("--nproc-per-node", () => {
	test.each([
		["1", 1],
		["1024", 1024],
		["auto", "auto"],
		["cpu", "cpu"],
		["gpu", "gpu"],
	])("%s", (text, count) => {
		expect(outcome(parseWorkerCount(text))).toBe(count);
	});

	test.each(["0", "-1", "1.5", "4x", "GPU", " 4", "0x4"])("not %s", (text) => {
		expect(outcome(parseWorkerCount(text))).toBe(
			`${JSON.stringify(text)} is not valid; use a whole number from 1 to 1024, "auto", "cpu" or "gpu"`,
		);
	});

	test("not too many", () => {
		expect(outcome(parseWorkerCount("100000"))).toBe(
			"100000 workers exceed the limit of 1024 on one node; use a smaller number",
		);
	});
});

describe("--local-addr", () => {
	test.each([
		"10.0.0.1",
		"node-1.example.org",
		"fe80::1",
		"localhost",
		"a_b",
	])("%s", (text) => {
		expect(outcome(parseLocalAddress(text))).toBe(text);
	});

	test.each([
		"10.0.0.1:80",
		"[::1]",
		"http://a",
		"a b",
		"10.0.0.256",
		"-a",
		"a..b",
	])("not %s", (text) => {
		expect(outcome(parseLocalAddress(text))).toContain("is not valid");
	});
});
