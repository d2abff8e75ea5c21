import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { job, type LaunchSite, openSite } from "../helpers/launch.js";
import {
	endProcess,
	isAlive,
	signalProcess,
	waitFor,
} from "../helpers/processes.js";

it("A1 a launcher that is killed leaves no worker, no child of one and no channel", async () => {
	const site = openSite();
	const launch = site.launch([
		...["--nproc-per-node", "3", job("spawns-grandchild.sh")],
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
	signalProcess(workers[0]?.pid, "SIGKILL");
	await launch.saw("stdout", "[node-a 1] SIGTERM ignored");
	launch.signal("SIGKILL");
	await launch.ended;
	await site.isSwept();
});

it("a launcher that was killed is followed by one that starts as ever, and keeps the old logs", async () => {
	const site = openSite();
	const args = ["--run-id", "train", job("works.sh")];
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
	const launch = site.launch([job("works.sh")]);
	const [worker] = await site.sawWorkers(1);
	launch.signal("SIGSTOP");
	signalProcess(worker?.pid, "SIGKILL");
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
	signalProcess(worker?.pid, "SIGSTOP");
	launch.signal("SIGTERM");
	const { exitCode, stdout } = await launch.ended;
	expect(exitCode).toBe(143);
	expect(stdout).toContain("worker got SIGTERM");
	await site.isSwept();
});

it("a guard that is killed is replaced, and the new one ends the workers as well", async () => {
	const site = openSite();
	const launch = site.launch([job("spawns-grandchild.sh")]);
	await site.sawWorkers(1);
	const [before = 0] = guardsOf(launch.pid);
	signalProcess(before, "SIGKILL");
	await waitFor("another guard", () =>
		guardsOf(launch.pid).some((pid) => pid !== before),
	);
	launch.signal("SIGKILL");
	await launch.ended;
	await site.isSwept();
});

// Launchers of other tests that run now end what was left of a run of theirs: this name is nobody else's.
const RUN = `left-${process.pid}`;

describe.skipIf(process.platform !== "linux")(
	"after a launcher and its guard were killed together",
	() => {
		async function killedTogether(site: LaunchSite, args: readonly string[]) {
			const launch = site.launch(args);
			const before = site.workers().length;
			const workers = await site.sawWorkers(before + 1);
			const guards = guardsOf(launch.pid);
			expect(guards).toHaveLength(1);
			// While both are stopped, neither sees the end of the other.
			for (const pid of [launch.pid, ...guards]) signalProcess(pid, "SIGSTOP");
			for (const pid of [...guards, launch.pid]) signalProcess(pid, "SIGKILL");
			await launch.ended;
			return workers.flatMap(({ extra }) => extra.children ?? []);
		}

		it("the next one of the same node ends what they left, and says so in one line", async () => {
			const site = openSite();
			const args = ["--run-id", RUN, job("spawns-grandchild.sh")];
			const left = await killedTogether(site, args);
			expect(left.filter(isAlive)).toEqual(left);
			const next = site.launch(args);
			await site.sawWorkers(2);
			expect(left.filter(isAlive)).toEqual([]);
			const lines = next.output.stderr
				.split("\n")
				.filter((line) => line.includes("an earlier launcher of this node"));
			expect(lines).toHaveLength(1);
			for (const pid of left) expect(lines[0]).toContain(`pid ${pid}`);
			next.signal("SIGTERM");
			expect((await next.ended).exitCode).toBe(143);
		});

		it("the next one in a dead worker's environment spares what it is in a pipe with", async () => {
			const site = openSite();
			const run = (...program: string[]) =>
				["--run-id", RUN, "--node-id", "node-a"].concat(program);
			const left = await killedTogether(site, run(job("spawns-grandchild.sh")));
			const [worker] = site.workers();
			const next = site.launch(run(job("prints.sh"), "1"), {
				env: worker?.env ?? {},
				through: ["sh", "-c", '"$@" 2>&1 | cat', "sh"],
			});
			const { stdout } = await next.ended;
			expect(stdout).toContain("an earlier launcher of this node");
			expect(stdout).toContain(`run ${RUN} succeeded`);
			expect(left.filter(isAlive)).toEqual([]);
		});

		it("one of another run or another node ends nothing", async () => {
			const site = openSite();
			const run = (id: string) => ["--run-id", id, job("spawns-grandchild.sh")];
			const left = await killedTogether(site, run(RUN));
			const others = [
				site.launch(run("another")),
				site.launch(run(RUN), { env: { ELASTIC_RUN_NODE_ID: "node-b" } }),
			];
			await site.sawWorkers(3);
			expect(left.filter(isAlive)).toEqual(left);
			for (const other of others) {
				other.signal("SIGTERM");
				await other.ended;
				expect(other.output.stderr).not.toContain("earlier launcher");
			}
			left.forEach(endProcess);
		});

		it("while one lives, a second one of the same names leaves its processes alone", async () => {
			const site = openSite();
			const args = ["--run-id", RUN, job("spawns-grandchild.sh")];
			const living = site.launch(args);
			await site.sawWorkers(1);
			const kept = site.livingProcesses();
			const second = site.launch(args);
			await site.sawWorkers(2);
			expect(kept.filter(isAlive)).toEqual(kept);
			for (const launch of [second, living]) {
				launch.signal("SIGTERM");
				await launch.ended;
			}
		});
	},
);

it("a guard does not bear the launcher's name in its arguments", async () => {
	const site = openSite();
	const launch = site.launch([job("works.sh")]);
	await site.sawWorkers(1);
	const [guard = 0] = guardsOf(launch.pid);
	expect(readFileSync(`/proc/${guard}/cmdline`, "utf8")).not.toContain(
		"elastic-run",
	);
	launch.signal("SIGTERM");
	await launch.ended;
});

/** The guard among a launcher's children: it alone has `guard-of-workers` as its name. */
function guardsOf(pid: number): number[] {
	return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
		.trim()
		.split(" ")
		.map(Number)
		.filter((child) => wordsOf(child)[3] === "guard-of-workers");
}

/** A process's command line; none if it has ended. */
function wordsOf(pid: number): readonly string[] {
	try {
		return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
	} catch {
		return [];
	}
}
