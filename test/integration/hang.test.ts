import { expect, it } from "vitest";
import { job, openSite } from "../helpers/launch.js";

// All kinds of hangs: test/slow/steps-hang.test.ts.
it("A4 A5 a worker that hangs is named, ends its round, and the run goes on", async () => {
	const { exitCode, stderr } = await openSite().launch(
		[
			...["--nproc-per-node", "2", "--hang-timeout", "3"],
			...["--evidence-timeout", "2", job("steps.js")],
		],
		{
			env: {
				...{ HANG_RANK: "1", HANG_HOW: "stop" },
				...{ OTHERS: "wait", STEPS_BY: "report" },
			},
		},
	).ended;
	expect(exitCode, stderr).toBe(0);
	expect(stderr).toMatch(/rank 1 failed: hung for \d+ s: stopped by SIGSTOP/);
	expect(stderr).toContain("succeeded: 2 rounds, 1 restart");
});
