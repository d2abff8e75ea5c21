import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFailed } from "vitest";
import { example, requireBuild } from "../fixtures/checkpoint-examples.js";
import { needEtcd } from "../helpers/etcd.js";
import { type Launch, type LaunchSite, openSite } from "../helpers/launch.js";
import { isAlive, waitFor } from "../helpers/processes.js";

const LIMIT_MS = 240_000;

function startDemo(site: LaunchSite): Launch {
	const demo = site.start(process.execPath, [example("soft-demo.js")]);
	onTestFailed(() => console.log(demo.output));
	return demo;
}

/** Every process that was started for this site, by what it was started with. */
function processesOf({ path }: LaunchSite): readonly string[] {
	return readdirSync("/proc")
		.filter((name) => /^\d+$/.test(name) && isAlive(Number(name)))
		.filter((pid) =>
			["cmdline", "environ"].some((file) =>
				textOf(join("/proc", pid, file)).includes(path),
			),
		);
}

function textOf(file: string): string {
	try {
		return readFileSync(file, "utf8");
	} catch {
		return "";
	}
}

async function nothingIsLeft(site: LaunchSite): Promise<void> {
	await waitFor(
		"all processes of the demo to be gone",
		() => processesOf(site).length === 0,
	);
	expect(readdirSync(site.temporary)).toEqual([]);
	expect(site.channelDirectories()).toEqual([]);
}

it(
	"npm run demo:soft: a node is killed and comes back, the survivors keep process and steps, and nothing is left",
	async (context) => {
		requireBuild(context, "bin/elastic-run.js");
		needEtcd();
		const site = openSite();
		const { exitCode, stdout } = await startDemo(site).ended;
		expect(stdout.match(/^ok .*$/gm)).toHaveLength(4);
		expect(stdout).not.toContain("FAILED");
		expect(stdout).toMatch(/from the kill to the next step: \d+\.\d s/);
		expect(exitCode).toBe(0);
		await nothingIsLeft(site);
	},
	LIMIT_MS,
);

it(
	"npm run demo:soft: Ctrl-C leaves nothing",
	async (context) => {
		requireBuild(context, "bin/elastic-run.js");
		needEtcd();
		const site = openSite();
		const demo = startDemo(site);
		await demo.saw("stdout", "round 1: rank ");
		demo.signal("SIGINT");
		expect(await demo.ended).toMatchObject({ exitCode: 130, stderr: "" });
		await nothingIsLeft(site);
	},
	LIMIT_MS,
);
