import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { job, openSite } from "../helpers/launch.js";
import { waitFor } from "../helpers/processes.js";

it("A1 a launcher that is killed leaves no worker, no child of one and no channel", async () => {
	const site = openSite();
	const launch = site.launch([
		...["--nproc-per-node", "3", job("spawns-grandchild.js")],
	]);
	await site.sawWorkers(3);
	expect(site.livingProcesses()).toHaveLength(9);
	launch.signal("SIGKILL");
	expect((await launch.ended).signal).toBe("SIGKILL");
	await site.isSwept();
});

it("a launcher that is killed while it restarts its workers leaves none", async () => {
	const site = openSite();
	const launch = site.launch([
		...["--nproc-per-node", "2", "--shutdown-timeout", "1h"],
		...[job("ignores-sigterm.js"), "rank-0-fails"],
	]);
	const workers = await site.sawWorkers(2);
	process.kill(workers[0]?.pid ?? 0, "SIGKILL");
	await launch.saw("stdout", "[node-a 1] SIGTERM ignored");
	launch.signal("SIGKILL");
	await launch.ended;
	await site.isSwept();
});

it("a launcher that was killed is followed by one that starts as ever, and keeps the old logs", async () => {
	const site = openSite();
	const args = ["--run-id", "train", job("works.js")];
	const killed = site.launch(args);
	await site.sawWorkers(1);
	killed.signal("SIGKILL");
	await killed.ended;
	const next = site.launch(args);
	const workers = await site.sawWorkers(2);
	expect(new Set(workers.map(({ env }) => env.ELASTIC_RUN_INSTANCE)).size).toBe(
		2,
	);
	next.signal("SIGTERM");
	expect((await next.ended).exitCode).toBe(143);
	expect(readdirSync(`${site.logs}/train`)).toHaveLength(3);
	await site.isSwept();
});

it("a stopped launcher goes on where it was when it is continued", async () => {
	const site = openSite();
	const launch = site.launch([job("works.js")]);
	const [worker] = await site.sawWorkers(1);
	launch.signal("SIGSTOP");
	process.kill(worker?.pid ?? 0, "SIGKILL");
	launch.signal("SIGCONT");
	await site.sawWorkers(1, 2);
	launch.signal("SIGTERM");
	expect((await launch.ended).exitCode).toBe(143);
});

it("a stopped worker is ended like the others", async () => {
	const site = openSite();
	const launch = site.launch([
		...["--shutdown-timeout", "1h", job("tells-signals.js")],
	]);
	const [worker] = await site.sawWorkers(1);
	process.kill(worker?.pid ?? 0, "SIGSTOP");
	launch.signal("SIGTERM");
	const { exitCode, stdout } = await launch.ended;
	expect(exitCode).toBe(143);
	expect(stdout).toContain("worker got SIGTERM");
	await site.isSwept();
});

it("a guard that is killed is replaced, and the new one ends the workers as well", async () => {
	const site = openSite();
	const launch = site.launch([job("spawns-grandchild.js")]);
	await site.sawWorkers(1);
	const [before = 0] = guardsOf(launch.pid);
	process.kill(before, "SIGKILL");
	await waitFor("another guard", () =>
		guardsOf(launch.pid).some((pid) => pid !== before),
	);
	launch.signal("SIGKILL");
	await launch.ended;
	await site.isSwept();
});

/** The guard among a launcher's children: it alone has `elastic-run-guard` as its name. */
function guardsOf(pid: number): number[] {
	return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
		.trim()
		.split(" ")
		.map(Number)
		.filter((child) => {
			const words = readFileSync(`/proc/${child}/cmdline`, "utf8").split("\0");
			return words[3] === "elastic-run-guard";
		});
}
