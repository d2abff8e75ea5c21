import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { job, openSite, type WorkerRecord } from "../helpers/launch.js";
import { isAlive, signalProcess } from "../helpers/processes.js";

const identity = ({ env }: WorkerRecord) => [
	env.RANK,
	env.LOCAL_RANK,
	env.GROUP_RANK,
	env.ROLE_RANK,
];

const values = (workers: readonly WorkerRecord[], name: string) => [
	...new Set(workers.map(({ env }) => env[name])),
];

it("A2 A3 J14 a worker that is killed takes all of them with it, and all start again with the same ranks", async () => {
	const site = openSite();
	const launch = site.launch(["--nproc-per-node", "3", job("works.sh")]);
	const before = await site.sawWorkers(3, 1);

	signalProcess(before[1]?.pid, "SIGKILL");
	const after = await site.sawWorkers(3, 2);

	expect(before.filter(({ pid }) => isAlive(pid))).toEqual([]);
	expect(after.map(identity)).toEqual(before.map(identity));
	expect(values(after, "TORCHELASTIC_RESTART_COUNT")).toEqual(["1"]);
	expect(values(before, "TORCHELASTIC_RESTART_COUNT")).toEqual(["0"]);
	expect(values(after, "MASTER_PORT")).toHaveLength(1);
	expect(values(after, "MASTER_PORT")).not.toEqual(
		values(before, "MASTER_PORT"),
	);
	const logs = [...before, ...after].map(({ env }) => logOf(env));
	expect(new Set(logs).size).toBe(6);
	expect(logs.filter((path) => !existsSync(path))).toEqual([]);
	const { stderr, exitCode } = await stop(launch);
	expect(stderr).toContain("rank 1 failed: killed by SIGKILL");
	expect(stderr).toContain("restarts: 1 of 3 used");
	expect(exitCode).toBe(143);
});

it("J10 workers that all succeed end the run with 0", async () => {
	const site = openSite();
	const launch = site.launch(["--nproc-per-node", "3", job("exits-with.sh")]);
	const { exitCode, stderr } = await launch.ended;
	expect(exitCode).toBe(0);
	expect(stderr.trimEnd().split("\n").at(-1)).toMatch(
		/^run \S+ succeeded: 1 round, 0 restarts/,
	);
	await site.isSwept();
});

it("J10 a late failure starts those that had succeeded again too", async () => {
	const site = openSite();
	const launch = site.launch([
		"--nproc-per-node",
		"3",
		job("fails-in-round-1.js"),
	]);
	const { exitCode } = await launch.ended;
	expect(exitCode).toBe(0);
	expect(site.workers(1).map(({ env }) => env.RANK)).toEqual(["0", "1", "2"]);
	expect(site.workers(2).map(({ env }) => env.RANK)).toEqual(["0", "1", "2"]);
	expect(site.workers()).toHaveLength(6);
});

it("a worker that starts again gets the channel and the log files that were made ahead for it", async () => {
	const site = openSite();
	const logs = '$(dirname "$TORCHELASTIC_ERROR_FILE")';
	const inRound1 = [
		'until [ "$(ls -A ../w0.2/tmp | wc -l)" = 1 ]; do sleep 0.01; done 2>/dev/null',
		`until [ -e "${logs}/../../.next/0/stderr.log" ]; do sleep 0.01; done`,
		`ls -i "${logs}/../../.next/0"; exit 3`,
	].join("; ");
	const inRound2 = `echo "$(basename "$PWD"):" tmp/.[!.]* events/* latest*; ls -i "${logs}"`;
	const launch = site.launch([
		...["--run-id", "train", "sh", "-c"],
		`cd "$ELASTIC_RUN_CHANNEL"; if [ "$ELASTIC_RUN_ROUND" = 1 ]; then ${inRound1}; fi; ${inRound2}`,
	]);
	const { exitCode, stdout } = await launch.ended;
	expect(exitCode).toBe(0);
	// What matches nothing stays as it is: tmp is empty.
	expect(stdout).toContain(
		" w0.2: tmp/.[!.]* events/0000000001.json latest.json\n",
	);
	const inodes = [...stdout.matchAll(/(\d+) stderr\.log/g)].map(([, of]) => of);
	expect(inodes).toEqual([inodes[0], inodes[0]]);
	const left = readdirSync(join(site.logs, "train", "latest", "node-a"));
	expect(left.sort()).toEqual(["agent.log", "round-1", "round-2"]);
	await site.isSwept();
});

it("two workers killed at the same moment are one incident", async () => {
	const site = openSite();
	const launch = site.launch(["--nproc-per-node", "3", job("works.sh")]);
	for (const { pid } of await site.sawWorkers(3, 1)) {
		signalProcess(pid, "SIGKILL");
	}
	const after = await site.sawWorkers(3, 2);
	expect(values(after, "TORCHELASTIC_RESTART_COUNT")).toEqual(["1"]);
	expect((await stop(launch)).stderr).toContain("restarts: 1 of 3 used");
});

it("J9 workers that fail at once are counted until the budget is spent", async () => {
	const site = openSite();
	const launch = site.launch([
		"--nproc-per-node",
		"2",
		"--max-restarts",
		"2",
		job("exits-with.sh"),
		"1:9",
	]);
	const { exitCode, stderr } = await launch.ended;
	expect(exitCode).toBe(1);
	const failed = site.workers().filter(({ env }) => env.RANK === "1");
	expect(failed.map(({ env }) => env.ELASTIC_RUN_ROUND).sort()).toEqual([
		"1",
		"2",
		"3",
	]);
	expect(stderr).toContain("restarts: 2 of 2 used");
	expect(stderr).toContain("the budget of 2 restarts is spent");
	await site.isSwept();
});

it("the logs of earlier rounds stay as they were", async () => {
	const site = openSite();
	const launch = site.launch(
		["--nproc-per-node", "2", job("exits-with.sh"), "0:4"],
		{
			env: { ELASTIC_RUN_MAX_RESTARTS: "1" },
		},
	);
	await launch.ended;
	for (const { env } of site.workers().filter(({ env }) => env.RANK === "0")) {
		expect(readFileSync(logOf(env), "utf8")).toBe("rank 0 gives up\n");
	}
});

it("a log directory that is removed while the run goes on is made again", async () => {
	const site = openSite();
	const launch = site.launch([job("removes-logs.sh")]);
	const { exitCode, stdout, stderr } = await launch.ended;
	expect(exitCode, stderr).toBe(0);
	expect(stdout).toContain("all is well");
});

it("a worker that ignores SIGTERM is killed after the shutdown time-out, and the round goes on", async () => {
	const site = openSite();
	const launch = site.launch([
		"--nproc-per-node",
		"2",
		"--shutdown-timeout",
		"300ms",
		job("ignores-sigterm.js"),
		"rank-0-fails",
	]);
	const before = await site.sawWorkers(2, 1);
	writeFileSync(site.release, "");
	await site.sawWorkers(2, 2);
	expect(before.filter(({ pid }) => isAlive(pid))).toEqual([]);
	const { exitCode, stderr } = await stop(launch);
	expect(stderr).toContain("SIGKILL: the time to end is over");
	expect(exitCode).toBe(143);
	await site.isSwept();
});

it("a worker that ignores SIGTERM is killed on the failure path as well", async () => {
	const site = openSite();
	const launch = site.launch([
		...["--nproc-per-node", "2", "--max-restarts", "0"],
		...["--shutdown-timeout", "300ms", job("ignores-sigterm.js")],
		"rank-0-fails",
	]);
	await site.sawWorkers(2, 1);
	writeFileSync(site.release, "");
	const { exitCode, stderr } = await launch.ended;
	expect(exitCode).toBe(1);
	expect(stderr).toContain("stopped because of it: rank 1");
	await site.isSwept();
});

function stop(launch: ReturnType<ReturnType<typeof openSite>["launch"]>) {
	launch.signal("SIGTERM");
	return launch.ended;
}

function logOf(env: WorkerRecord["env"]): string {
	return join(env.TORCHELASTIC_ERROR_FILE ?? "", "../stderr.log");
}
