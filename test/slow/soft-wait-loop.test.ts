import { expect, it } from "vitest";
import { job, openSite } from "../helpers/launch.js";

it("a loop of getWorkerInfo() and waitForWork() costs one restart, and then a warning that names the fix", async () => {
	const site = openSite();
	const policy = ["--restart-policy", "soft", "--max-restarts", "3"];
	const launch = site.launch([...policy, job("waits-in-a-loop.js")]);
	await launch.saw("stdout", "waits in round 2");
	await launch.saw("stderr", "afterRound");
	await launch.saw("stdout", "still in 2");
	launch.signal("SIGTERM");
	const { exitCode, stdout, stderr } = await launch.ended;
	expect(exitCode).toBe(143);
	expect(stdout).not.toContain("waits in round 3");
	expect(stderr.match(/afterRound/g)).toHaveLength(1);
	expect(stderr).toContain("\nrestarts: 1 of 3 used; this node: 2 of 3 left\n");
}, 60_000);
