import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { RunDocument } from "../../src/status/run-document.js";
import { needPython, PYTHON } from "../fixtures/python/start-python.js";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { poll } from "../helpers/etcd-gateway.js";
import { job, type LaunchSite, openSite } from "../helpers/launch.js";
import { waitFor } from "../helpers/processes.js";
import { sideBySide } from "../helpers/this-test.js";
import { together } from "../helpers/together.js";

const etcd = etcdForAll();
sideBySide();
/** So short that a test need not wait; what is late on a slow machine is late for all workers alike. */
const LIMIT = ["--hang-timeout", "3", "--evidence-timeout", "2"];

interface Hang {
	/** "0", "1" or "all". */
	readonly rank: string;
	readonly how: "promise" | "spin" | "stop" | "repeat" | "busy";
	readonly by?: "report" | "output";
	readonly others?: "end" | "wait" | "move";
	readonly flags?: readonly string[];
	readonly nproc?: number;
}

function launch(
	site: LaunchSite,
	{ rank, how, by, others = "wait", flags = [], nproc = 2 }: Hang,
) {
	return site.launch(
		[
			...["--nproc-per-node", String(nproc), "--run-id", "steps"],
			...[...LIMIT, ...flags, job("steps.js")],
		],
		{
			env: {
				...{ HANG_RANK: rank, HANG_HOW: how, OTHERS: others },
				STEPS_BY: by ?? "report",
			},
		},
	);
}

/** The files below a folder, with their paths. */
function filesBelow(folder: string): readonly string[] {
	return readdirSync(folder, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.map((entry) => join(entry.parentPath, entry.name));
}

/** The evidence of a site's only hang. */
function evidenceOf(site: LaunchSite): {
	readonly verdict: { kind: string; suspects: { rank: number }[] };
	readonly texts: readonly string[];
} {
	const files = filesBelow(site.logs).filter((path) =>
		path.includes("/hang-1/"),
	);
	const verdict = files.find((path) => path.endsWith("hang.json")) ?? "";
	return {
		verdict: JSON.parse(readFileSync(verdict, "utf8")),
		texts: files
			.filter((path) => path.endsWith(".txt"))
			.sort()
			.map((path) => readFileSync(path, "utf8")),
	};
}

/** What status says of the workers' steps, once all have made three. */
async function stepsIn(site: LaunchSite) {
	let workers: RunDocument["nodes"][number]["workers"] = [];
	let isAsking = false;
	await waitFor("three steps of two workers", () => {
		if (!isAsking) {
			isAsking = true;
			void site
				.launch(["status", "steps", "--output", "json"])
				.ended.then(({ stdout }) => {
					workers = stdout === "" ? [] : JSON.parse(stdout).nodes[0].workers;
					isAsking = false;
				});
		}
		return workers.length === 2 && workers.every(({ step }) => step === 3);
	});
	return workers;
}

describe("steps", { concurrent: true }, () => {
	it("A4 are shown by status, from reports with their numbers and from the output", () =>
		together({
			report: async () => {
				const site = openSite();
				const busy = launch(site, { rank: "all", how: "busy" });
				await site.sawWorkers(2);
				const [first] = await stepsIn(site);
				expect(first).toMatchObject({
					...{ localRank: 0, rank: 0, step: 3, stepSource: "report" },
					metrics: { loss: 1 / 3 },
				});
				expect(first?.secondsSinceStep).toBeGreaterThanOrEqual(0);
				busy.signal("SIGTERM");
				await busy.ended;
			},
			output: async () => {
				const site = openSite();
				const busy = launch(site, { rank: "all", how: "busy", by: "output" });
				await busy.saw("stdout", "step 3, loss");
				const workers = await stepsIn(site);
				expect(workers.map(({ stepSource }) => stepSource)).toEqual([
					"output",
					"output",
				]);
				// Once the last step is late.
				const table = await poll("a late step", 60_000, async () => {
					const { stdout } = await site.launch(["status", "steps"]).ended;
					return / 3, .* ago /.test(stdout) ? stdout : undefined;
				});
				expect(table).toMatch(/ step +workers\n/);
				busy.signal("SIGTERM");
				await busy.ended;
			},
		}));
});

describe("a hang", { concurrent: true }, () => {
	it("A5 of a worker in kernel state D names it, and it is ended", async (context) => {
		needPython(context);
		const site = openSite();
		const { exitCode, stderr } = await site.launch(
			["--nproc-per-node", "2", ...LIMIT, job("blocks_in_kernel.py")],
			{ env: { PYTHON_EXEC: PYTHON } },
		).ended;
		expect(exitCode, stderr).toBe(0);
		expect(stderr).toMatch(
			/RUNNING→STOPPING rank 1 failed: hung for \d+ s: in kernel state D, which no signal ends/,
		);
		expect(evidenceOf(site).verdict.suspects).toMatchObject([{ rank: 1 }]);
	});

	it("A4 of one worker is judged by itself while the others make steps", () =>
		together({
			stopped: async () => {
				const site = openSite();
				const how = { rank: "1", how: "stop", others: "move" } as const;
				const { exitCode, stderr } = await launch(site, how).ended;
				expect(exitCode, stderr).toBe(0);
				expect(stderr).toMatch(
					/rank 1 failed: hung for \d+ s: stopped by SIGSTOP/,
				);
				expect(stderr).toContain("succeeded: 2 rounds, 1 restart");
			},
			blocked: async () => {
				const site = openSite();
				const how = { rank: "1", how: "promise", others: "move" } as const;
				const { exitCode, stderr } = await launch(site, how).ended;
				expect(exitCode, stderr).toBe(0);
				expect(stderr).toMatch(/rank 1 failed: hung for \d+ s/);
				const { suspects } = evidenceOf(site).verdict;
				expect(suspects).toMatchObject([
					{ rank: 1, why: "it makes no step, and others do" },
				]);
			},
		}));

	it("A4 before the first step of all is found where the user has set --start-timeout", async () => {
		const site = openSite();
		const { exitCode, stderr } = await site.launch([
			...["--start-timeout", "2", "--on-hang", "fail"],
			...["--no-node", "sleep", "1000"],
		]).ended;
		expect(exitCode, stderr).toBe(1);
		expect(stderr).toMatch(/^root cause: rank 0 .*: hung for 2 s/m);
		expect(stderr).toContain("no step was made");
	});

	// It needs a processor for itself.
	it("A5 of a worker that computes is slow: it is told, and given more time", {
		concurrent: false,
	}, async () => {
		const site = openSite();
		const { exitCode, stderr } = await launch(site, {
			...{ rank: "0", how: "spin", nproc: 1 },
			flags: ["--hang-timeout", "2"],
		}).ended;
		expect(exitCode, stderr).toBe(0);
		const [told = "", ended = ""] = stderr
			.split("\n")
			.filter((line) => line.includes("slow: no step for"));
		expect(told).toMatch(
			/slow: no step for \d+ s at .*steps\.js:\d+ in spin;.* it gets \d+ s more, because it computes, reads or writes/,
		);
		expect(ended).toContain("RUNNING→STOPPING rank 0 failed");
	});

	it("A5 follows --on-hang: report leaves all as it is, fail ends the run with the report", () =>
		together({
			report: async () => {
				const site = openSite();
				const flags = ["--on-hang", "report"];
				const hang = launch(site, { rank: "1", how: "stop", flags });
				await hang.saw("stderr", "no action is taken (--on-hang report)");
				expect(evidenceOf(site).verdict.kind).toBe("stopped");
				const [worker] = site.workers();
				expect(existsSync(`/proc/${worker?.pid}`)).toBe(true);
				hang.signal("SIGINT");
				hang.signal("SIGKILL");
				await hang.ended;
			},
			fail: async () => {
				const site = openSite();
				const flags = ["--on-hang", "fail"];
				const how = { rank: "1", how: "stop", flags } as const;
				const { exitCode, stderr } = await launch(site, how).ended;
				expect(exitCode).toBe(1);
				const [root = "", ...details] = stderr
					.slice(stderr.indexOf("root cause:"))
					.split("\n");
				expect(root).toMatch(
					/^root cause: rank 1 on node-a \(pid \d+\), round 1: hung for \d+ s: stopped by SIGSTOP/,
				);
				expect(details.slice(1, 4).join("\n")).toMatch(
					/suspect: .*\n {2}last step: 3 .*\n {2}evidence: .*\/round-1\/hang-1/,
				);
			},
		}));

	it("A5 of a run on two nodes is one incident, by the evidence of both, with one suspect", async () => {
		const cluster = new Cluster(etcd(), { nodes: "2" });
		const env = { HANG_RANK: "1", HANG_HOW: "stop" };
		for (const nodeId of ["node-a", "node-b"]) {
			cluster.agent(nodeId, { env, flags: LIMIT, worker: ["steps.js"] });
		}
		const ends = await cluster.ends({ "node-a": 0, "node-b": 0 });
		const round = await cluster.store.round();
		expect(round).toMatchObject({ incidents: 1, charged: 1, synced: 2 });
		const said = Object.values(ends).map(({ stderr }) => stderr);
		const acted = said.filter((text) => text.includes("rank 1 failed: hung"));
		expect(acted).toHaveLength(1);
		expect(said.join("\n")).toMatch(
			/RUNNING→STOPPING rank 1 on node-[ab]: hung/,
		);
		// Also where the suspect's node has ended the round first.
		const files = filesBelow(cluster.site.logs);
		const told = files.filter((path) => path.endsWith("/hang.json"));
		const folders = files.filter((path) => path.endsWith(".txt"));
		expect(told.map(dirname).sort()).toEqual(
			[...new Set(folders.map(dirname))].sort(),
		);
	});
});

describe("why", { concurrent: true }, () => {
	it("A5 shows what all workers of a run do, and kills nothing, without a store", async () => {
		const site = openSite();
		const flags = ["--hang-timeout", "0"];
		const run = launch(site, { rank: "1", how: "stop", flags });
		const [worker] = await site.sawWorkers(2);
		await waitFor("a stopped worker", () =>
			site
				.workers()
				.some(({ pid }) =>
					/\) T /.test(readFileSync(`/proc/${pid}/stat`, "utf8")),
				),
		);
		const why = await site.launch(["why"]).ended;
		expect(why.exitCode, why.stderr).toBe(0);
		expect(why.stdout).toMatch(
			/^run steps, round 1: rank 1: stopped\n {2}rank 1 on node-a: stopped by SIGSTOP/,
		);
		expect(why.stdout).toMatch(/\nrank 0: idle/);
		expect(existsSync(`/proc/${worker?.pid}`)).toBe(true);
		run.signal("SIGINT");
		run.signal("SIGKILL");
		await run.ended;
	});
});
