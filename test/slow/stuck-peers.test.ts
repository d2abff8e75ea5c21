import { readdirSync } from "node:fs";
import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import { job, openSite } from "../helpers/launch.js";

describe("the peers of a worker that crashed", () => {
	it("A5 that do not end are told of with their place, in the log and in the report of a run that fails", async () => {
		const site = openSite();
		const { exitCode, stderr } = await site.launch([
			...["--nproc-per-node", "3", "--max-restarts", "0"],
			...["--shutdown-timeout", "6", "--stuck-timeout", "0", job("stuck.js")],
		]).ended;
		expect(exitCode, stderr).toBe(1);
		const stuck =
			/2 peers were stuck: ranks 1-2 at .*stuck\.js:\d+ in allReduce/;
		expect(stderr).toMatch(stuck);
		const report = stderr.slice(stderr.indexOf("root cause:"));
		expect(report).toMatch(stuck);
		const files = readdirSync(site.logs, { recursive: true }).map(String);
		const evidence = files.filter((path) =>
			/latest\/.*\/round-1\/stuck-1\//.test(path),
		);
		expect(evidence.map((path) => basename(path))).toEqual([
			"rank-1.txt",
			"rank-2.txt",
		]);
	});

	it("A5 that wait for it are killed soon after SIGTERM, long before the others' time is over", async () => {
		const site = openSite();
		const { exitCode, stderr } = await site.launch([
			...["--nproc-per-node", "3", "--shutdown-timeout", "1h"],
			...["--stuck-timeout", "2", job("stuck.js")],
		]).ended;
		expect(exitCode, stderr).toBe(0);
		expect(stderr).toMatch(
			/rank 2 waits for a worker that has ended, at .*stuck\.js:\d+ in allReduce: it is killed 2s after SIGTERM \(--stuck-timeout\)/,
		);
		expect(stderr).toContain("succeeded: 2 rounds, 1 restart");
	});

	it("A5 have all their time while one of them has announced that it saves, which is not called stuck", async () => {
		const site = openSite();
		const { exitCode, stderr } = await site.launch(
			[
				...["--nproc-per-node", "3", "--shutdown-timeout", "4"],
				...["--stuck-timeout", "500ms", job("stuck.js")],
			],
			{ env: { BUSY: "1" } },
		).ended;
		expect(exitCode, stderr).toBe(0);
		expect(stderr).not.toContain("--stuck-timeout");
		expect(stderr).toContain("1 peer was stuck: rank 2 at");
		expect(stderr).toContain("SIGKILL: the time to end is over");
	});
});
