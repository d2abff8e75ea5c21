import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { totalSpent } from "../../src/status/goodput/categories.js";
import type { Goodput } from "../../src/status/goodput/describe-goodput.js";
import type { RunHistory } from "../../src/status/history.js";
import { job, type LaunchSite, openSite } from "../helpers/launch.js";

function trainingIn(site: LaunchSite, env: Readonly<Record<string, string>>) {
	const state = mkdtempSync(join(site.path, "training-"));
	return { TRAIN_STATE: state, ...env };
}

async function askIn<T>(
	site: LaunchSite,
	...words: readonly string[]
): Promise<T> {
	const asked = site.launch([...words, "--output", "json"]);
	const { exitCode, stdout, stderr } = await asked.ended;
	expect(exitCode, stderr).toBe(0);
	return JSON.parse(stdout);
}

describe("goodput", () => {
	it("adds up to the wall time, tells repeated steps and saves, and says the same after the run", async () => {
		const site = openSite();
		const env = trainingIn(site, { TRAIN_FAILS: "25", TRAIN_STEPS: "20" });
		const run = site.launch(["--run-id", "train", job("trains.js")], { env });
		const { exitCode, stderr } = await run.ended;
		expect(exitCode, stderr).toBe(0);

		const told = await askIn<Goodput>(site, "goodput", "train");
		const history = await askIn<RunHistory>(site, "history", "train");
		const [instance] = history.instances;
		const wallSeconds = (instance?.elapsedMs ?? 0) / 1_000;
		expect(Math.abs(totalSpent(told.ledger) / wallSeconds - 1)).toBeLessThan(
			0.001,
		);
		const { productive, repeated, saving, loading } = told.ledger;
		// 40 new steps apart from the first, and 22 to 25 once more.
		expect(productive).toBeGreaterThan(39 * 0.05);
		expect(repeated).toBeGreaterThan(4 * 0.05);
		expect(saving).toBeGreaterThan(4 * 0.15);
		expect(loading).toBeGreaterThan(2 * 0.2);
		expect(told.checkpoints).toMatchObject({ saves: 4, missing: null });
		expect(told.recoveries).toMatchObject({ failures: 1, count: 1 });
		expect(instance?.rounds.map(({ steps }) => steps)).toMatchObject([
			{ first: 1, furthest: 25, lost: null, again: null },
			{ first: 21, furthest: 40, lost: 5, again: 5 },
		]);

		const text = await site.launch([
			...["goodput", "train", "--cost-per-node-hour", "36"],
		]).ended;
		expect(text.stdout).toMatch(/ {2}productive +.* s .* % +0\.0\d +new steps/);
		expect(text.stdout).toMatch(/\ncheckpoint interval by Young\/Daly .* s:/);
		const again = await askIn<Goodput>(site, "goodput", "train");
		expect(again).toEqual(told);
		const table = await site.launch(["history", "train"]).ended;
		expect(table.stdout).toMatch(/1st step +lost +again +begun because of\n/);
	});
});
