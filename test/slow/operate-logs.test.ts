import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { LogLine } from "../../src/operate/log-source.js";
import { etcdForAll } from "../helpers/etcd.js";
import { openSite } from "../helpers/launch.js";

const etcd = etcdForAll();

it("logs: those of all nodes of this machine by time and rank, followed to the run's end", async () => {
	const script =
		'echo "$(date -u +%Y-%m-%dT%H:%M:%S.%NZ) rank $RANK begins"; ' +
		'while ! [ -e "$JOB_RELEASE" ]; do read -t 0.05 x <>/dev/zero; done; ' +
		'echo "$(date -u +%Y-%m-%dT%H:%M:%S.%NZ) rank $RANK ends"; printf "rank $RANK unfinished" >&2';
	const site = openSite();
	const env = { ELASTIC_RUN_LOG_DIR: site.logs };
	const launch = (nodeId: string) =>
		site.launch(
			[
				...["--nnodes", "2", "--run-id", "logged", "--node-id", nodeId],
				...["--nproc-per-node", "2", "--tee", "0"],
				...["--rdzv-endpoint", etcd().endpoint, "bash", "-c", script],
			],
			{ env },
		);
	const agents = [launch("node-a"), launch("node-b")];
	for (const agent of agents)
		await agent.saw("stderr", "round 1: started 2 of");
	const logs = (...args: string[]) => site.launch(["logs", "logged", ...args]);
	const followed = logs("-f", "--rank", "1-3", "--output", "json");
	for (const rank of [1, 2, 3]) {
		await followed.saw("stdout", `rank ${rank} begins`);
	}
	writeFileSync(site.release, "");
	for (const { ended } of agents) expect((await ended).exitCode).toBe(0);
	const { exitCode, stdout } = await followed.ended;
	expect(exitCode).toBe(0);
	const lines: LogLine[] = stdout
		.trimEnd()
		.split("\n")
		.map((line) => JSON.parse(line));
	expect(lines.map(({ rank }) => rank)).not.toContain(0);
	for (const rank of [1, 2, 3]) {
		const own = lines.filter((line) => line.rank === rank);
		const localRank = rank % 2;
		expect(own.filter(({ stream }) => stream === "stdout")).toMatchObject([
			{ round: 1, localRank, timeFrom: "line" },
			{ text: expect.stringContaining("ends"), timeFrom: "line" },
		]);
		expect(own.filter(({ stream }) => stream === "stderr")).toMatchObject([
			{ text: `rank ${rank} unfinished`, localRank, timeFrom: "arrival" },
		]);
	}
	const all = await logs().ended;
	const text = all.stdout.split("\n");
	const places = [
		/^\[node-. launcher\] JOINING→RUNNING/,
		/^\[node-. 0\] .* rank 0 begins/,
		/^\[node-. 3\] .* rank 3 ends/,
		/^\[node-. launcher\] FINISHED→CLOSED/,
	].map((pattern) => text.findIndex((line) => pattern.test(line)));
	expect(places).toEqual([...places].sort((a, b) => a - b));
	expect(places).not.toContain(-1);
	expect(all.stderr).toContain(
		"4 of 8 files have no times in their lines: each of them stands where it was begun",
	);
	const some = await logs("--grep", "rank [02] ends$").ended;
	expect(some.stdout.match(/ends/g)).toHaveLength(2);
});

// C11
it("--keep-logs removes what this node has of older starts of the run, and nothing else", async () => {
	const site = openSite();
	const run = join(site.logs, "kept");
	const start = async (keep: string) => {
		const flags = ["--run-id", "kept", "--node-id", "node-a"];
		const { ended } = site.launch(
			[...flags, "--keep-logs", keep, "sh", "-c", "echo done"],
			{ env: { ELASTIC_RUN_LOG_DIR: site.logs } },
		);
		expect((await ended).exitCode).toBe(0);
		const starts = readdirSync(run).filter((name) => name !== "latest");
		return starts.sort();
	};
	const first = await start("5");
	const [oldest = ""] = first;
	expect(first).toHaveLength(1);
	mkdirSync(join(run, oldest, "node-b"));
	mkdirSync(join(run, "1"));
	const second = await start("1");
	expect(second).toEqual(["1", oldest, expect.any(String)]);
	const third = await start("1");
	expect(readdirSync(join(run, oldest))).toEqual(["node-b"]);
	expect(third).toEqual(["1", oldest, second[2], expect.any(String)]);
	const last = await start("0");
	expect(last).toEqual(["1", oldest, expect.any(String)]);
});
