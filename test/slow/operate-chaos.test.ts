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
				"1:1,2:0:stop-worker,9:0",
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
			{ kind: "stop-worker", signal: "SIGTERM", round: 2, rank: 0 },
			{ unmet: { round: 9, rank: 0 } },
		]);
		expect(survivors).toHaveLength(2);
		expect(stderr).toContain("chaos: 2 faults");
		expect(exitCode).toBe(1);
	});

	it("may end the launcher, and leaves its run where it is stopped", async () => {
		const site = openSite();
		const run = site.launch(["--run-id", "gone", job("obeys.sh")]);
		await site.sawWorkers(1, 1);
		const chaos = site.launch(["chaos", "gone", "--at", "1:0:stop-agent"]);
		const { exitCode, stdout } = await chaos.ended;
		expect(exitCode).toBe(0);
		expect(stdout).toContain("stop-agent (SIGTERM to pid");
		expect((await run.ended).exitCode).toBe(143);
	});

	it("is refused where the run is not here, or nothing is asked for", async () => {
		const site = openSite();
		const end = (...args: string[]) => site.launch(["chaos", ...args]).ended;
		const absent = await end("nowhere", "--at", "1:0");
		expect(absent).toMatchObject({ exitCode: 2 });
		expect(absent.stderr).toContain(
			"no launcher of run nowhere is on this machine",
		);
		const idle = await end("nowhere");
		expect(idle).toMatchObject({ exitCode: 2 });
		expect(idle.stderr).toContain("say what is to happen");
		const unknown = await end("nowhere", "--at", "1:0:kill-workers");
		expect(unknown).toMatchObject({ exitCode: 2 });
		expect(unknown.stderr).toContain('"kill-workers" is unknown');
		const unread = await end("nowhere", "--at", "2");
		expect(unread).toMatchObject({ exitCode: 2 });
		expect(unread.stderr).toContain('"2" is not ROUND:RANK');
		expect(await end()).toMatchObject({ exitCode: 2 });
	});
});
