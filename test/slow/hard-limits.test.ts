import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { job, openSite } from "../helpers/launch.js";
import { asProcess1, Freezer, withoutInotify } from "../helpers/machine.js";
import { isAlive, waitFor } from "../helpers/processes.js";

it("256 workers run where 256 files may be open", async () => {
	const site = openSite();
	const { ended } = site.launch(
		["--nproc-per-node", "256", "--tee", "0", "sh", "-c", 'echo "$RANK"'],
		{ through: ["sh", "-c", 'ulimit -n 256 && exec "$@"', "sh"] },
	);
	const { exitCode, stderr } = await ended;
	expect(stderr).toContain("succeeded: 1 round");
	expect(exitCode).toBe(0);
});

it("a user without an inotify instance left: the launcher polls, and says so once; workers have doorbells", async (context) => {
	const site = openSite();
	const launch = site.launch(["--nproc-per-node", "2", job("listens.js")], {
		through: withoutInotify(context),
	});
	// A worker that listened before its doorbell was there says the same.
	const byLauncher = () =>
		launch.output.stderr
			.split("\n")
			.filter((line) => line.includes("EMFILE") && !line.startsWith("[node-a"));
	await waitFor("the launcher's word", () => byLauncher().length > 0);
	writeFileSync(site.release, "");
	const { exitCode } = await launch.ended;
	expect(exitCode).toBe(0);
	expect(byLauncher()).toHaveLength(1);
});

describe("a launcher that is process 1", () => {
	// Its workers' pids mean nothing outside: these workers are no jobs that write them down.
	it("restarts, and ends who left its worker's group", async (context) => {
		const site = openSite();
		const { ended } = site.launch(
			[
				...["--nproc-per-node", "2", "sh", "-c"],
				`escaped=$RANK-$ELASTIC_RUN_ROUND; export escaped
				setsid sh -c 'touch $escaped; exec sleep 600' & while [ ! -e $escaped ]; do sleep 0.01; done
				[ "$ELASTIC_RUN_ROUND" = 2 ] || exit 3`,
			],
			{ through: asProcess1(context) },
		);
		const { exitCode, stderr } = await ended;
		expect(exitCode).toBe(0);
		expect(stderr).toContain("succeeded: 2 rounds");
		expect(stderr).not.toContain("this launcher is process 1");
		expect(stderr.match(/left their worker's process group/g)).toHaveLength(2);
	});
});

it("a worker that SIGKILL does not end: the launcher leaves with 75 and names it", async (context) => {
	const freezer = new Freezer(context);
	const site = openSite();
	const launch = site.launch([...["--shutdown-timeout", "1", job("works.sh")]]);
	const [worker] = await site.sawWorkers(1);
	const pid = worker?.pid ?? 0;
	freezer.freeze(pid);
	launch.signal("SIGTERM");
	const { exitCode, stderr } = await launch.ended;
	expect(exitCode).toBe(75);
	expect(stderr).toContain("not gone 5 s after SIGKILL, stuck in the kernel");
	expect(stderr).toContain(`pid ${pid} (local rank 0)`);
	expect(isAlive(pid)).toBe(true);
	freezer.thaw();
	await waitFor("its end", () => !isAlive(pid) && freezer.isEmpty);
});
