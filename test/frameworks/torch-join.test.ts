import { expect, it } from "vitest";
import { job, openSite } from "../helpers/launch.js";
import { needTorch, PYTHON } from "../helpers/torch-trainers.js";

const LIMIT_MS = 600_000;

it("A4 names who has not joined the process group, and where it is, before the first step of all", {
	timeout: LIMIT_MS,
}, async (context) => {
	needTorch(context);
	const site = openSite();
	const { exitCode, stderr } = await site.launch(
		[
			...["--nproc-per-node", "3", "--start-timeout", "3"],
			...["--on-hang", "fail", job("torch_join.py")],
		],
		{ env: { PYTHON_EXEC: PYTHON, RANK_2: "loads" } },
	).ended;
	expect(exitCode, stderr).toBe(1);
	expect(stderr).toMatch(
		/^root cause: rank 2 on node-a .*: hung for \d+ s at .*torch_join\.py:\d+ in load$/m,
	);
	expect(stderr).toMatch(
		/suspect: it has not joined the process group; it is at .*torch_join\.py:\d+ in load/,
	);
	expect(stderr).toContain("ranks 0-1 wait");
});

it("A5 a peer that waits for a killed one in C code is not waited for, whatever handler of SIGTERM it has", {
	timeout: LIMIT_MS,
}, async (context) => {
	needTorch(context);
	const site = openSite();
	const { exitCode, stderr } = await site.launch(
		[
			...["--nproc-per-node", "3", "--shutdown-timeout", "1h"],
			job("torch_join.py"),
		],
		{ env: { PYTHON_EXEC: PYTHON, RANK_2: "dies" } },
	).ended;
	expect(exitCode, stderr).toBe(0);
	// Rank 1 may end by itself: a signal can end its attempt to connect.
	expect(stderr).toMatch(
		/rank 0 waits for a worker that has ended, at .*torch_join\.py:\d+ in <module>: it is killed 3s after SIGTERM/,
	);
	expect(stderr).toContain("succeeded: 2 rounds, 1 restart");
});
