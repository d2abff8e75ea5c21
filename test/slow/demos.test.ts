import { expect, it } from "vitest";
import { requireBuild } from "../fixtures/checkpoint-examples.js";
import { nothingIsLeft, startDemo } from "../helpers/demo.js";
import { needEtcd } from "../helpers/etcd.js";
import { openSite } from "../helpers/launch.js";

const LIMIT_MS = 240_000;

it(
	"npm run demo:soft: a node is killed and comes back, the survivors keep process and steps, and nothing is left",
	async (context) => {
		requireBuild(context, "bin/elastic-run.js");
		needEtcd();
		const site = openSite();
		const { exitCode, stdout } = await startDemo(site, ["soft-demo.js"]).ended;
		expect(stdout.match(/^ok .*$/gm)).toHaveLength(4);
		expect(stdout).not.toContain("FAILED");
		expect(stdout).toMatch(/\d+\.\d s from the kill to the next step/);
		expect(exitCode).toBe(0);
		await nothingIsLeft(site);
	},
	LIMIT_MS,
);

it(
	"npm run demo:spot: a node gets a notice, a spare takes over in time, and nobody loses a step",
	async (context) => {
		requireBuild(context, "bin/elastic-run.js");
		needEtcd();
		const site = openSite();
		const { exitCode, stdout } = await startDemo(site, ["spot-demo.js"]).ended;
		expect(stdout.match(/^ok .*$/gm)).toHaveLength(4);
		expect(stdout).not.toContain("FAILED");
		expect(exitCode).toBe(0);
		await nothingIsLeft(site);
	},
	LIMIT_MS,
);
