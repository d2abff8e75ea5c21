// The whole story of this demo is told by installed-package.test.ts.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { requireBuild } from "../fixtures/checkpoint-examples.js";
import { nothingIsLeft, startDemo, told } from "../helpers/demo.js";
import { needEtcd } from "../helpers/etcd.js";
import { openSite } from "../helpers/launch.js";

const LIMIT_MS = 240_000;

it("npm run demo:cluster says of torchrun what the table beside torchrun says", () => {
	const page = readFileSync("docs/torchrun.md", "utf8");
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

it(
	"npm run demo:cluster: Ctrl-C on a terminal, which goes to the demo's agents, too, leaves nothing",
	async () => {
		needEtcd();
		const site = openSite();
		const through = ["setsid"];
		const demo = startDemo(site, ["cluster-demo.js"], { through });
		await told(demo, "round 1 runs");
		process.kill(-demo.pid, "SIGINT");
		expect(await demo.ended).toMatchObject({ exitCode: 130, stderr: "" });
		await nothingIsLeft(site);
	},
	LIMIT_MS,
);
