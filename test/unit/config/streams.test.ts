import { describe, expect, test } from "vitest";
import {
	parseLocalRanks,
	parseStreamMap,
	redirectWhatIsShown,
	selectStreams,
} from "../../../src/config/parse/logs.js";
import { outcome } from "./outcome.js";

const NONE = { stdout: false, stderr: false };
const OUT = { stdout: true, stderr: false };
const ERR = { stdout: false, stderr: true };
const BOTH = { stdout: true, stderr: true };

describe("a map of streams", () => {
	test.each([
		["0", [NONE, NONE, NONE]],
		["1", [OUT, OUT, OUT]],
		["2", [ERR, ERR, ERR]],
		["3", [BOTH, BOTH, BOTH]],
		["0:1,1:3", [OUT, BOTH, NONE]],
		["2:2", [NONE, NONE, ERR]],
	])("%s", (text, selections) => {
		const parsed = parseStreamMap(text);
		expect("value" in parsed && selectStreams(parsed.value, 3)).toEqual(
			selections,
		);
	});

	test.each([
		"4",
		"-1",
		"x",
		"0:4",
		"0:1,",
		"0;1",
		"01",
		"constructor",
	])("not %s", (text) => {
		expect(outcome(parseStreamMap(text))).toContain("is not valid; use 0");
	});

	test("not the same rank twice", () => {
		expect(outcome(parseStreamMap("0:1,0:2"))).toContain("twice");
	});
});

test("what is shown is redirected as well", () => {
	expect(redirectWhatIsShown([NONE, OUT, NONE], [OUT, ERR, NONE])).toEqual([
		OUT,
		BOTH,
		NONE,
	]);
});

test.each([
	["0", [0]],
	["2,0,2", [0, 2]],
	["x", expect.stringContaining("use local ranks")],
	["3-1", expect.stringContaining("use local ranks")],
	["0,,1", expect.stringContaining("use local ranks")],
])("local ranks %s", (text, expected) => {
	expect(outcome(parseLocalRanks(text))).toEqual(expected);
});
