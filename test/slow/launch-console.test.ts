import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freePort } from "../helpers/free-port.js";
import { job, openSite, type WorkerRecord } from "../helpers/launch.js";

const lines = (text: string) => text.trimEnd().split("\n").sort();

function readLog(worker: WorkerRecord | undefined, name: string): string {
	const folder = join(worker?.env.TORCHELASTIC_ERROR_FILE ?? "", "..");
	return readFileSync(join(folder, name), "utf8");
}

describe("what is shown", () => {
	it("is everything, with the worker's name before each line", async () => {
		const site = openSite();
		const launch = site.launch([
			...["--nproc-per-node", "2", job("prints.js"), "2"],
		]);
		const { stdout, stderr } = await launch.ended;
		expect(lines(stdout)).toEqual([
			"[node-a 0] line 1 of rank 0",
			"[node-a 0] line 2 of rank 0",
			"[node-a 1] line 1 of rank 1",
			"[node-a 1] line 2 of rank 1",
		]);
		expect(stderr).toContain("[node-a 0] an aside of rank 0\n");
	});

	it("goes by --local-ranks-filter and --log-prefix; the files have it all", async () => {
		const site = openSite();
		const launch = site.launch([
			...["--nproc-per-node", "2", "--role", "trainer"],
			...["--local-ranks-filter", "1"],
			...["--log-prefix", "<$" + "{role} $" + "{local_rank} r$" + "{round}> "],
			...[job("prints.js"), "1"],
		]);
		const { stdout, stderr } = await launch.ended;
		expect(stdout).toBe("<trainer 1 r1> line 1 of rank 1\n");
		expect(stderr).not.toContain("an aside of rank 0");
		expect(readLog(site.workers()[0], "stdout.log")).toBe("line 1 of rank 0\n");
	});

	it("goes by --redirects and --tee for each local rank", async () => {
		const site = openSite();
		const launch = site.launch([
			...["--nproc-per-node", "2", "--redirects", "0:1,1:2", "--tee", "0"],
			...[job("prints.js"), "1"],
		]);
		const { stdout, stderr } = await launch.ended;
		const [first, second] = site.workers();
		expect(readLog(first, "stdout.log")).toBe("line 1 of rank 0\n");
		expect(stderr).toContain("an aside of rank 0\n");
		expect(stdout).toBe("line 1 of rank 1\n");
		expect(readLog(second, "stderr.log")).toBe("an aside of rank 1\n");
		expect(stderr).not.toContain("an aside of rank 1");
	});
});

it("two launchers share script, run id, log directory and machine without meeting", async () => {
	const site = openSite();
	const args = ["--run-id", "train", "--nproc-per-node", "2", job("works.sh")];
	const launches = [site.launch(args), site.launch(args)];
	const workers = await site.sawWorkers(4);
	const distinct = (name: string) =>
		new Set(workers.map(({ env }) => env[name])).size;
	expect(distinct("MASTER_PORT")).toBe(2);
	expect(distinct("ELASTIC_RUN_CHANNEL")).toBe(4);
	expect(distinct("TORCHELASTIC_ERROR_FILE")).toBe(4);
	expect(site.channelDirectories()).toHaveLength(2);

	const [one, other] = launches;
	one?.signal("SIGTERM");
	expect((await one?.ended)?.exitCode).toBe(143);
	expect(site.livingProcesses()).toHaveLength(2);
	other?.signal("SIGTERM");
	expect((await other?.ended)?.exitCode).toBe(143);
	await site.isSwept();
});

it("gives each Node worker a debugger's port of its own, and takes none itself", async () => {
	const port = await freePort();
	const script = `console.log(require("node:inspector").url())`;
	const { exitCode, stdout } = await openSite().launch(
		["--nproc-per-node", "2", "node", "-e", script],
		{ env: { NODE_OPTIONS: `--inspect=127.0.0.1:${port}` } },
	).ended;
	expect(exitCode).toBe(0);
	expect(stdout).toContain(`ws://127.0.0.1:${port}/`);
	expect(stdout).toContain(`ws://127.0.0.1:${port + 1}/`);
});
