import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { example } from "../fixtures/checkpoint-examples.js";
import { freePort } from "../helpers/free-port.js";
import { job, openSite } from "../helpers/launch.js";
import { needTorch, PYTHON } from "../helpers/torch-trainers.js";

it("an unmodified PyTorch script meets over env://, also after one of its workers was killed", async (context) => {
	needTorch(context);
	const site = openSite();
	const launch = site.launch(
		[
			"--nproc-per-node",
			"2",
			"--max-restarts",
			"1",
			job("torch_all_reduce.py"),
		],
		{ env: { PYTHON_EXEC: PYTHON } },
	);
	const { exitCode, stdout, stderr } = await launch.ended;
	expect(stderr).toContain("succeeded: 2 rounds, 1 restart");
	expect(stdout).toContain("sum 3 of 2 workers");
	expect(exitCode).toBe(0);
}, 180_000);

it("B6 a script meets at tcp://, at the address and port that two launchers were given for the job, also after a kill", async (context) => {
	needTorch(context);
	const site = openSite();
	const port = await freePort();
	const script = [job("torch_all_reduce.py"), `tcp://127.0.0.1:${port}`];
	const node = (rank: number) =>
		site.launch(
			[
				...["--nnodes", "2", "--node-rank", `${rank}`],
				...["--master-addr", "127.0.0.1", "--master-port", `${port}`],
				...["--node-id", `node-${rank}`, ...script],
			],
			{ env: { PYTHON_EXEC: PYTHON } },
		);
	const ends = await Promise.all([node(0), node(1)].map(({ ended }) => ended));
	expect(ends.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
	expect(ends[0]?.stdout).toContain("sum 3 of 2 workers");
	expect(ends[0]?.stderr).toContain("succeeded: 2 rounds, 1 restart");
}, 240_000);

it("torch reads the root cause in the launcher's own error file as that of a worker", async (context) => {
	needTorch(context);
	const site = openSite();
	const file = join(site.path, "launcher.json");
	await site.launch(["--max-restarts", "0", job("torch_record.py")], {
		env: { PYTHON_EXEC: PYTHON, TORCHELASTIC_ERROR_FILE: file },
	}).ended;
	const read = `
from torch.distributed.elastic.multiprocessing.errors import ProcessFailure
failure = ProcessFailure(0, 1, 1, ${JSON.stringify(file)})
print(failure.message["message"], failure.timestamp > 0)`;
	const said = execFileSync(PYTHON, ["-c", read], { encoding: "utf8" });
	expect(said).toContain("ValueError: loss is nan");
	expect(said).toContain("True");
}, 120_000);

it("the example's group leaves no thread behind, which could abort a worker that ends", async (context) => {
	needTorch(context);
	const site = openSite();
	const PYTHONPATH = dirname(example("torch_group.py"));
	const { stdout } = await site.launch(
		["--restart-policy", "soft", job("torch_round_group.py")],
		{ env: { PYTHON_EXEC: PYTHON, PYTHONPATH } },
	).ended;
	expect(stdout).toMatch(/threads in the round: [1-9]/);
	expect(stdout).toContain("threads after the round: 0");
}, 120_000);
