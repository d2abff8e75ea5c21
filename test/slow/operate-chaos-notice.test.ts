import { expect, test } from "vitest";
import { job, openSite } from "../helpers/launch.js";

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
