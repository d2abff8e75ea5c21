import { describe, expect, it } from "vitest";
import { job, openSite } from "../helpers/launch.js";

/** Linux names the children of a process. */
const inProc = process.platform === "linux";

describe.skipIf(!inProc)("elastic-run chaos", () => {
	it("makes the faults that are asked for, says so, and the run survives them", async () => {
		const site = openSite();
		const run = site.launch([
			...["--nproc-per-node", "2", "--run-id", "rough", job("obeys.sh")],
		]);
		await site.sawWorkers(2, 1);
		const chaos = site.launch([
			...[
				"chaos",
				"rough",
				"--at",
				"1:1,2:0:crash-worker,9:0",
				"--output",
				"json",
			],
		]);
		await site.sawWorkers(2, 3);
		const survivors = site.workers(3);
		run.signal("SIGTERM");
		expect((await run.ended).exitCode).toBe(143);
		const { exitCode, stdout, stderr } = await chaos.ended;
		const lines = stdout
			.trim()
			.split("\n")
			.map((line) => JSON.parse(line));
		expect(lines).toMatchObject([
			{
				kind: "kill-worker",
				signal: "SIGKILL",
				round: 1,
				rank: 1,
				nodeId: "node-a",
			},
			{ kind: "crash-worker", signal: "SIGSEGV", round: 2, rank: 0 },
			{ unmet: { round: 9, rank: 0 } },
		]);
		expect(survivors).toHaveLength(2);
		expect(stderr).toContain("chaos: 2 faults");
		expect(exitCode).toBe(1);
	});

	it("lets go on what it has frozen when it is told to end", async () => {
		const site = openSite();
		const run = site.launch(["--run-id", "cold", job("obeys.sh")]);
		const [worker] = await site.sawWorkers(1, 1);
		const chaos = site.launch([
			...["chaos", "cold", "--at", "1:0:freeze-worker", "--freeze", "1h"],
		]);
		await chaos.saw("stdout", `freeze-worker (SIGSTOP to pid ${worker?.pid})`);
		chaos.signal("SIGTERM");
		const { exitCode, stdout } = await chaos.ended;
		expect(exitCode).toBe(0);
		expect(stdout).toContain(`continue (SIGCONT to pid ${worker?.pid})`);
		run.signal("SIGTERM");
		expect((await run.ended).exitCode).toBe(143);
	});

	it("is refused where the run is not here, or nothing is asked for", async () => {
		const site = openSite();
		const end = (...args: string[]) => site.launch(["chaos", ...args]).ended;
		const absent = await end("nowhere", "--mtbf", "1s");
		expect(absent).toMatchObject({ exitCode: 2 });
		expect(absent.stderr).toContain(
			"no launcher of run nowhere is on this machine",
		);
		const idle = await end("nowhere", "--kinds", "burn");
		expect(idle).toMatchObject({ exitCode: 2 });
		expect(idle.stderr).toContain("say what is to happen");
		expect(idle.stderr).toContain('"burn" is no kind of fault');
		expect(await end()).toMatchObject({ exitCode: 2 });
	});
});
