import { describe, expect, test } from "vitest";
import {
	isLiving,
	parseProcessStat,
	readProcess,
} from "../../../src/base/process-stat.js";
import { readGroups } from "../../../src/processes/process-group.js";

const stat = (name: string, state: string, threads = 1) =>
	`812 (${name}) ${state} 1 700 600 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 ${threads} 0 91234 2703360 0 18446744073709551615`;

describe("a line of /proc/PID/stat", () => {
	test.each([
		"sleep",
		"a b",
		"odd) S 1 2 3",
		"((",
		"",
	])("is read whatever the name: %j", (name) => {
		expect(parseProcessStat(stat(name, "S"))).toEqual({
			pid: 812,
			state: "S",
			parentId: 1,
			groupId: 700,
			sessionId: 600,
			threads: 1,
			startTime: 91234,
		});
	});

	test.each([
		"",
		"812",
		"812 (sleep)",
		"812 (sleep) S 1",
		"x (sleep) S 1 2 3",
	])("is nothing where it is not one: %j", (text) => {
		expect(parseProcessStat(text)).toBeUndefined();
	});

	test.each([
		["R", 1, true],
		["S", 1, true],
		["D", 1, true],
		["T", 1, true],
		["t", 1, true],
		["Z", 1, false],
		["X", 1, false],
		["x", 1, false],
		["Z", 3, true],
	])("in state %s with %i threads: living is %s", (state, threads, living) => {
		const entry = parseProcessStat(stat("a", state, threads));
		expect(entry && isLiving(entry)).toBe(living);
	});
});

describe.skipIf(process.platform !== "linux")("the process table", () => {
	test("has this process, and its group among the living", () => {
		const entry = readProcess(process.pid);
		expect(entry).toMatchObject({ pid: process.pid });
		expect(readGroups()?.get(entry?.groupId ?? -1)).toBeDefined();
	});

	test("has no process of an impossible pid", () => {
		expect(readProcess(424_242_424)).toBeUndefined();
	});
});
