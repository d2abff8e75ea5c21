import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { requireBuild } from "../fixtures/checkpoint-examples.js";
import { nothingIsLeft, startDemo, told } from "../helpers/demo.js";
import { needEtcd } from "../helpers/etcd.js";
import { openSite } from "../helpers/launch.js";
import { isAlive } from "../helpers/processes.js";

const LIMIT_MS = 240_000;

/** The nodes of the last round of so many ranks, as the demo tells of it: two ranks each, without a gap. */
function worldOf(stdout: string, worldSize: number): readonly string[] {
	const line = new RegExp(
		`round \\d+ runs.*: ranks (.*) of ${worldSize}$`,
		"gm",
	);
	const [, ranks = ""] = [...stdout.matchAll(line)].at(-1) ?? [];
	const nodes = ranks.split(", ").map((one) => one.split(" ")[0] ?? "");
	const expected = nodes.map((nodeId, i) => `${nodeId} ${2 * i}-${2 * i + 1}`);
	expect(ranks.split(", ")).toEqual(expected);
	expect(nodes).toHaveLength(worldSize / 2);
	return nodes;
}

/** How long after the fault something was told, in milliseconds. */
function timesOf(stdout: string, text: string): readonly number[] {
	return stdout
		.split("\n")
		.filter((line) => line.includes(text))
		.map((line) => Number(/\+(\d+) ms/.exec(line)?.[1]));
}

it(
	"T5 J7 npm run demo:cluster: a node is killed and comes back, and the run ends as if nothing had been",
	async (context) => {
		requireBuild(context, "bin/elastic-run.js");
		needEtcd();
		const site = openSite();
		const demo = startDemo(site, ["cluster-demo.js"]);
		await told(demo, "are gone: ended by its guard");
		const pids = /its workers, (\d+) and (\d+), are gone/.exec(
			demo.output.stdout,
		);
		expect(pids?.slice(1).map(Number).map(isAlive)).toEqual([false, false]);

		const { exitCode, stdout, stderr } = await demo.ended;
		expect(stderr).toBe("");
		expect(stdout.match(/^ok .*$/gm)).toHaveLength(5);
		expect(stdout).not.toContain("FAILED");
		expect(exitCode).toBe(0);

		const [before = "", after = ""] = stdout.split("node-b is started again");
		const survivors = worldOf(before, 6).filter((node) => node !== "node-b");
		expect(worldOf(before, 4)).toEqual(survivors);
		expect(worldOf(after, 6)).toEqual([...survivors, "node-b"]);
		expect(before).toMatch(/leaves round 1: "rank \d failed: exit code 1"$/m);
		expect(after).toMatch(/leaves round \d+: "joining: node-b"$/m);
		await nothingIsLeft(site);

		// What it sums up is what it has told before, and what the launcher has written down.
		const [left = 0] = timesOf(before, "leaves round");
		const [trains = 0] = timesOf(before, "train again");
		const [leftAgain = 0] = timesOf(after, "leaves round");
		const [trainsAgain = 0] = timesOf(after, "train again");
		expect(left).toBeLessThan(trains);
		const [, down, downAgain] =
			/nobody trained for (\d+\.\d s) after the kill, .* and for (\d+\.\d s) when/.exec(
				stdout,
			) ?? [];
		// Both are rounded, to tenths of a second and to milliseconds.
		const off = Number.parseFloat(down ?? "") - trains / 1000;
		expect(Math.abs(off)).toBeLessThan(0.052);
		expect(Number.parseFloat(downAgain ?? "")).toBeCloseTo(
			(trainsAgain - leftAgain) / 1000,
			0,
		);
		expect(stdout).toMatch(/^2 +4 +2 .*; -node-b$/m);
		expect(stdout).toMatch(/^\d+ +6 +3 .* joining: node-b; \+node-b$/m);
	},
	LIMIT_MS,
);

it("npm run demo:cluster says of torchrun what the table beside torchrun says", () => {
	const page = readFileSync("docs/beside-torchrun.md", "utf8");
	const source = readFileSync("examples/cluster-demo.js", "utf8");
	const [, table = ""] = /const TORCHRUN = \{(.*?)\};/s.exec(source) ?? [];
	const sentences = [...table.matchAll(/"(.*)"/g)].map(([, words]) => words);
	expect(sentences).toHaveLength(2);
	for (const words of sentences) expect(page).toContain(`| ${words} |`);
});

it(
	"npm run demo:cluster -- --keep-open: the run goes on until Ctrl-C, which leaves nothing",
	async (context) => {
		requireBuild(context, "bin/elastic-run.js");
		needEtcd();
		const site = openSite();
		const demo = startDemo(site, ["cluster-demo.js", "--keep-open"]);
		const words = "The run goes on until Ctrl-C. Its page: ";
		await told(demo, words);
		const [, page = ""] = demo.output.stdout.split(words);
		const shown = await fetch(page.trim());
		expect(shown.status).toBe(200);
		expect(await shown.text()).toMatch(/^<!doctype html>/i);
		const status: unknown = await (await fetch(`${page.trim()}status`)).json();
		expect(status).toMatchObject({
			node: { nodeId: "node-a", phase: "RUNNING" },
			history: {
				instances: [
					{
						rounds: expect.arrayContaining([
							...[1, 2].map((round) => expect.objectContaining({ round })),
						]),
					},
				],
			},
		});
		demo.signal("SIGINT");
		expect(await demo.ended).toMatchObject({ exitCode: 130, stderr: "" });
		await nothingIsLeft(site);
	},
	LIMIT_MS,
);

it.each([
	["Ctrl-C", 130],
	["a reader that goes away", 1],
] as const)(
	"npm run demo:cluster: %s leaves nothing",
	async (event, code) => {
		needEtcd();
		const site = openSite();
		// A terminal's Ctrl-C goes to the demo's agents, too.
		const through = ["setsid"];
		const demo = startDemo(site, ["cluster-demo.js"], { through });
		await told(demo, "round 1 runs");
		if (event === "Ctrl-C") process.kill(-demo.pid, "SIGINT");
		else demo.closeStdout();
		expect(await demo.ended).toMatchObject({ exitCode: code, stderr: "" });
		await nothingIsLeft(site);
	},
	LIMIT_MS,
);

it("npm run demo:cluster without an etcd says how to get one", async () => {
	const site = openSite();
	const env = { ETCD_BIN: "/no/etcd" };
	const demo = startDemo(site, ["cluster-demo.js"], { env });
	const { exitCode, stderr } = await demo.ended;
	expect(exitCode).toBe(1);
	expect(stderr).toMatch(
		/^ETCD_BIN=\/no\/etcd is not an executable file\. Set it to .*\n$/,
	);
	await nothingIsLeft(site);
});
