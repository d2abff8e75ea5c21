import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { runCli } from "../helpers/cli.js";
import { temporaryFolder } from "../helpers/processes.js";

const folder = temporaryFolder();
afterAll(() => folder.remove());
const cwd = folder.path;

/** Rank 1 fails at step 5, each time with other numbers in its message. */
writeFileSync(
	join(cwd, "train.js"),
	`for (let step = 1; step <= 5; step += 1) console.log("step", step);
if (process.env.RANK === "1") throw new RangeError("bad batch " + process.pid);
setInterval(() => {}, 1000);
`,
);

test("D2 a run whose restarts get no further ends before its budget, and quotes each failure", async () => {
	const { exitCode, stderr } = await runCli(
		["--nproc-per-node", "2", "--max-restarts", "100", "train.js"],
		{ cwd },
	);
	expect(exitCode).toBe(1);
	expect(stderr).toMatch(
		/ended: rank 1 on \S+ RangeError: bad batch \d+, at train\.js:2; no restart got beyond step 5: 3 failures in a row/,
	);
	const quoted = stderr.match(
		/^ {2}round \d, step 5: rank 1 on .*RangeError: bad batch \d+, at train\.js:2$/gm,
	);
	expect(quoted).toHaveLength(3);
	expect(stderr).toContain("restarts: 2 of 100 used");
});

test("D2 a worker that is killed each time is given its whole budget, as is one with --max-identical-failures 0", async () => {
	const killed = await runCli(
		["--max-restarts", "3", "sh", "-c", "kill -KILL $$"],
		{ cwd },
	);
	expect(killed.stderr).toContain("the budget of 3 restarts is spent");
	const off = await runCli(
		["--max-identical-failures", "0", "sh", "-c", "exit 1"],
		{ cwd },
	);
	expect(off.stderr).toContain("the budget of 3 restarts is spent");
});
