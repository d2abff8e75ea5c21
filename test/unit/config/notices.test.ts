import { expect, test } from "vitest";
import type { NoticesConfig } from "../../../src/config/agent-config.js";
import {
	parseNotices,
	parseSomeTime,
} from "../../../src/config/parse/notices.js";
import { fitWarnings } from "../../../src/config/resolve-run.js";

test.each([
	["auto", "auto"],
	["off", []],
	["aws", ["aws"]],
	["slurm, file:/run/gone,gcp", ["slurm", { path: "/run/gone" }, "gcp"]],
])("P1 --notices %s", (text, value) =>
	expect(parseNotices(text)).toEqual({ value }));

test.each([
	["awz", '"awz" is unknown; use auto, off, or some of aws, gcp'],
	["aws,off", '"off" is unknown'],
	["file:", "use file:PATH with the path of a file"],
	["aws,", '"" is unknown'],
])("P1 --notices %s is refused", (text, words) => {
	const parsed = parseNotices(text);
	expect("problems" in parsed && parsed.problems.join()).toContain(words);
});

test("P11 a deadline of 0 is refused", () => {
	expect(parseSomeTime("0")).toHaveProperty("problems");
	expect(parseSomeTime("2h")).toEqual({ value: 7_200_000 });
});

type Times = Partial<NoticesConfig> & { readonly isInSlurm?: boolean };

test.each<[Times, number, string]>([
	[{ terminationGraceMs: 70_000 }, 0, ""],
	[
		{ terminationGraceMs: 30_000 },
		1,
		"--termination-grace (30s) is not longer",
	],
	[{ maxLifetimeMs: 86_400_000 }, 0, ""],
	[
		{ maxLifetimeMs: 86_400_000, drainBeforeMs: 20_000 },
		1,
		"--drain-before (20s) is not longer than --shutdown-timeout (30s)",
	],
	[
		{ maxLifetimeMs: 50_000 },
		1,
		"half of --max-lifetime (50s) is not longer than --shutdown-timeout (30s)",
	],
	[{ maxLifetimeMs: 70_000 }, 0, ""],
	[{ drainBeforeMs: 20_000 }, 0, ""],
	[{ drainBeforeMs: 20_000, isInSlurm: true }, 1, "the end of the Slurm job"],
])("P2 times that do not fit are warned of: %j", (change, count, words) => {
	const { isInSlurm = false, ...times } = change;
	const warnings = fitWarnings(
		{
			maxLifetimeMs: undefined,
			terminationGraceMs: undefined,
			drainBeforeMs: 60_000,
			...times,
		},
		30_000,
		isInSlurm,
	);
	expect(warnings).toHaveLength(count);
	expect(warnings.join()).toContain(words);
});
