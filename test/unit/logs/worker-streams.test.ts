import { describe, expect, it } from "vitest";
import { planStreams } from "../../../src/logs/worker-streams.js";

const streams = (stdout: boolean, stderr: boolean) => ({ stdout, stderr });
const none = [streams(false, false), streams(false, false)];
const both = [streams(true, true), streams(true, true)];
const file = (shownOn?: "stdout" | "stderr") => ({ kind: "file", shownOn });
const inherit = (descriptor: 1 | 2) => ({ kind: "inherit", descriptor });
const base = {
	redirects: none,
	tee: none,
	localRanksFilter: undefined,
	output: "text",
} as const;

describe("planStreams", () => {
	it.each([
		["neither", base, inherit(1), inherit(2)],
		["redirected", { ...base, redirects: both }, file(), file()],
		[
			"shown, so redirected",
			{ ...base, tee: both },
			file("stdout"),
			file("stderr"),
		],
		[
			"one of each",
			{ ...base, tee: [streams(false, true)] },
			inherit(1),
			file("stderr"),
		],
		[
			"filtered in",
			{ ...base, tee: both, localRanksFilter: [0] },
			file("stdout"),
			file("stderr"),
		],
		[
			"filtered out",
			{ ...base, tee: both, localRanksFilter: [1] },
			file(),
			file(),
		],
		[
			"inherited and filtered out",
			{ ...base, localRanksFilter: [1] },
			file(),
			file(),
		],
		[
			"JSON output",
			{ ...base, tee: both, output: "json" as const },
			file("stderr"),
			file("stderr"),
		],
		[
			"JSON output, inherited",
			{ ...base, output: "json" as const },
			inherit(2),
			inherit(2),
		],
	])("%s", (_name, config, stdout, stderr) => {
		expect(planStreams(config, 0)).toEqual({ stdout, stderr });
	});
});
