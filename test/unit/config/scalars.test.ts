import { describe, expect, test } from "vitest";
import {
	durationInWords,
	oneOf,
	parseCount,
	parseDuration,
	parseName,
	parseSwitch,
	parseText,
} from "../../../src/config/parse/scalars.js";
import { outcome } from "./outcome.js";

describe("a duration", () => {
	test.each([
		["30", 30_000],
		["0", 0],
		["0.5", 500],
		["500ms", 500],
		["30s", 30_000],
		["10m", 600_000],
		["1h", 3_600_000],
		["1.5h", 5_400_000],
		["8760h", 31_536_000_000],
	])("%s", (text, durationMs) => {
		expect(outcome(parseDuration(text))).toBe(durationMs);
	});

	test.each([
		"5 parsecs",
		"",
		"-1",
		"1e3",
		"10 m",
		"1d",
		".5",
		"1.s",
		"s",
		"Infinity",
		"0x10",
	])("not %j", (text) => {
		expect(outcome(parseDuration(text))).toBe(
			`${JSON.stringify(text)} is not a duration; use seconds, or for example 500ms, 30s, 10m, 1h`,
		);
	});

	test("not longer than a year", () => {
		expect(outcome(parseDuration("8761h"))).toContain("too long");
		expect(outcome(parseDuration("9".repeat(400)))).toContain("too long");
	});

	test.each([
		[30_000, "30s"],
		[500, "500ms"],
		[0, "0s"],
	])("%d ms in words", (durationMs, words) => {
		expect(durationInWords(durationMs)).toBe(words);
	});
});

describe("a name", () => {
	test.each(["a", "train-1", "0.x_y", "A".repeat(128)])("%s", (text) => {
		expect(outcome(parseName(text))).toBe(text);
	});

	test.each([
		"../x",
		"a/b",
		"-a",
		".a",
		"",
		"a b",
		"ä",
		"a\0",
		"a\n",
		"A".repeat(129),
	])("not %j", (text) => {
		expect(outcome(parseName(text))).toContain("is not valid; use letters");
	});
});

test.each([
	["0", 0],
	["3", 3],
	["-1", '"-1" is not valid; use a whole number of at least 0'],
	["abc", '"abc" is not valid; use a whole number of at least 0'],
	["1.5", '"1.5" is not valid; use a whole number of at least 0'],
	["1e3", '"1e3" is not valid; use a whole number of at least 0'],
	["9".repeat(16), expect.stringContaining("is not valid")],
])("count %s", (text, expected) => {
	expect(outcome(parseCount(text))).toEqual(expected);
});

test.each([
	["1", true],
	["true", true],
	["TRUE", true],
	["0", false],
	["false", false],
	["yes", '"yes" is not valid; use 1 or 0 (true or false)'],
])("switch %s", (text, expected) => {
	expect(outcome(parseSwitch(text))).toBe(expected);
});

test("a word of a few", () => {
	const parse = oneOf("pretty", "json");
	expect(outcome(parse("json"))).toBe("json");
	expect(outcome(parse("prety"))).toBe(
		'"prety" is unknown; use pretty or json; did you mean pretty?',
	);
	expect(outcome(parse("xml"))).toBe('"xml" is unknown; use pretty or json');
});

test("a text without control characters", () => {
	expect(outcome(parseText("/var/log/é"))).toBe("/var/log/é");
	expect(outcome(parseText("a\u001b[2J"))).toContain("control characters");
});
