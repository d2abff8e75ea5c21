import { describe, expect, test } from "vitest";
import {
	parseCount,
	parseLimit,
} from "../../../../src/operate/doctor/limits.js";
import { controlGroupPaths } from "../../../../src/supervision/control-group.js";

const TEXT = `Limit                     Soft Limit           Hard Limit           Units
Max processes             96365                unlimited            processes
Max open files            1024                 20000                files
`;

describe("the text of /proc/self/limits", () => {
	test.each([
		["Max open files", { soft: 1024, hard: 20_000 }],
		["Max processes", { soft: 96_365, hard: Number.POSITIVE_INFINITY }],
		["Max open", { soft: Number.NaN, hard: 1024 }],
		["Max nothing", undefined],
	])("%s", (name, limit) => {
		expect(parseLimit(TEXT, name)).toEqual(limit);
	});
});

test.each([
	["512\n", 512],
	["max\n", Number.POSITIVE_INFINITY],
	["", Number.NaN],
	["-1", Number.NaN],
])("the count %j", (text, count) => {
	expect(parseCount(text)).toBe(count);
});

test("a control group's limit of processes, in both versions", () => {
	const file = { controller: "pids", v2: "pids.max", v1: "pids.max" } as const;
	expect(controlGroupPaths("8:pids:/docker/1f\n0::/\n", file)).toEqual([
		"/sys/fs/cgroup/pids/docker/1f/pids.max",
		"/sys/fs/cgroup/pids/pids.max",
		"/sys/fs/cgroup/pids.max",
	]);
});
