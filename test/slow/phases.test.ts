// A phase without steps that the launcher takes for a hang: docs/steps.md.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { needPython, PYTHON } from "../fixtures/python/start-python.js";
import { job, openSite } from "../helpers/launch.js";

beforeEach(needPython);
const ADVICE =
	/report_progress\(busy=…, for_seconds=…\), or raise --hang-timeout/;
/** Late workers are late alike. */
const evaluate = (nproc: number, hangTimeout: string) => [
	...["--nproc-per-node", String(nproc), "--hang-timeout", hangTimeout],
	...["--evidence-timeout", "2", job("evaluates.py")],
];

describe("a phase without steps", () => {
	it("C3 that comes to the same place after the same step three times is none of a hang: the report says what to call", async () => {
		const { exitCode, stderr } = await openSite().launch(
			["--max-restarts", "9", ...evaluate(2, "2")],
			{ env: { PYTHON_EXEC: PYTHON } },
		).ended;
		expect(exitCode, stderr).toBe(1);
		const report = stderr.slice(stderr.indexOf("root cause:"));
		expect(report).toMatch(
			/^root cause: rank 1 on .*, round 3: hung for \d+ s at .*evaluates\.py:\d+ in evaluate\n/,
		);
		expect(report).toMatch(/\n {2}hint: 3 times in a row after the same step/);
		expect(report).toMatch(ADVICE);
		expect(report).toContain("no restart got beyond step 3");
	});

	// It needs a processor for itself.
	it("C3 is told as slow with the same advice, and so is the step that comes after it", async () => {
		const site = openSite();
		const until = join(site.path, "evaluated");
		const run = site.launch(evaluate(1, "4"), {
			env: { PYTHON_EXEC: PYTHON, UNTIL: until },
		});
		await run.saw("stderr", "because it computes, reads or writes");
		writeFileSync(until, "");
		await run.saw("stderr", "round 1: steps come again, after ");
		rmSync(until);
		const { exitCode, stderr } = await run.ended;
		expect(exitCode, stderr).toBe(0);
		expect(stderr).toMatch(ADVICE);
	});
});
