import { expect, it } from "vitest";
import { openSite } from "../helpers/launch.js";

it("a restart in vain is held back: said in the log, and a stop ends it at once", async () => {
	const site = openSite();
	const launch = site.launch([
		...["--max-identical-failures", "0", "--restart-delay", "10m"],
		...["sh", "-c", "exit 3"],
	]);
	// Round 2 begins at once.
	await launch.saw("stderr", "RUNNING round 2:");
	await launch.saw("stderr", "waiting before the restart");
	launch.signal("SIGTERM");
	const { exitCode, stderr } = await launch.ended;
	expect(exitCode).toBe(143);
	expect(stderr).not.toContain("RUNNING round 3:");
	await site.isSwept();
});

it("D2 restarts of one node, role and time are limited, and the report says what is left", async () => {
	const site = openSite();
	const launch = site.launch([
		...["--max-role-restarts", "0/1h", "--max-restarts", "5/6h"],
		...["--role", "trainer", "sh", "-c", "exit 3"],
	]);
	const { exitCode, stderr } = await launch.ended;
	expect(exitCode).toBe(1);
	expect(stderr).toContain(
		"the budget of 0 restarts in 1h of the role trainer is spent",
	);
	expect(stderr).toContain("restarts: 0 used, 4 of 5 in 6 h 0 min left");
});
