import { describe, expect, it, test } from "vitest";
import { job, openSite } from "../helpers/launch.js";

/** Linux names the children of a process. */
const inProc = process.platform === "linux";

describe.skipIf(!inProc)("elastic-run chaos", () => {
	// So many are forked by another process than the launcher.
	it.each([
		2, 32,
	])("makes the faults that are asked for, says so, and the run of %i workers survives them", async (workers) => {
		const site = openSite();
		const run = site.launch([
			...["--nproc-per-node", String(workers), "--run-id", "rough"],
			job("obeys.sh"),
		]);
		await site.sawWorkers(workers, 1);
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
		await site.sawWorkers(workers, 3);
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
		expect(survivors).toHaveLength(workers);
		expect(stderr).toContain("chaos: 2 faults");
		expect(exitCode).toBe(1);
	});
});

test("chaos notice: a node hears that its machine will go, as from a platform", async () => {
	const site = openSite();
	const run = site.launch(["--run-id", "spot", job("works.sh")]);
	await site.sawWorkers(1, 1);
	const notice = (...args: readonly string[]) =>
		site.launch(["chaos", "notice", ...args]).ended;
	const bad = await notice("spot", "--platform", "ibm", "--window", "0");
	expect(bad.exitCode).toBe(2);
	expect(bad.stderr).toMatch(/--platform: "ibm" .*\n.*--window: "0"/);
	const made = await notice(
		...["spot", "--platform", "gcp", "--window", "2s", "--output", "json"],
	);
	expect(made.exitCode).toBe(0);
	expect(JSON.parse(made.stdout)).toMatchObject({
		...{ version: 1, runId: "spot", nodeId: "node-a", platform: "gcp" },
		reason: "preempted (chaos, as gcp)",
	});
	const { exitCode, stderr } = await run.ended;
	expect(exitCode).toBe(143);
	expect(stderr).toContain("preempted (chaos, as gcp)");
	const none = await notice("spot");
	expect(none.exitCode).toBe(2);
	expect(none.stderr).toContain("no such node of run spot is on this machine");
});
