import { expect, it } from "vitest";
import { ScaleRun } from "../../bench/scale/scale-run.js";
import { temporaryFolder } from "../helpers/processes.js";
import { onTestFinished } from "../helpers/this-test.js";

const AGENTS = 40;

/** What etcd is asked for in a restart of many agents, looks and writes. */
async function requestsOf(areLinked: boolean): Promise<number> {
	const { path, remove } = temporaryFolder();
	const run = new ScaleRun(AGENTS, areLinked);
	onTestFinished(async () => {
		await run.close();
		remove();
	});
	await run.open(path);
	// In the first one links are still being opened.
	await run.restart();
	const { costs } = await run.restart();
	return costs.looks + costs.writes;
}

it("A6 forty agents with links ask etcd for less than half of what they do without", async () => {
	const [flat, linked] = [await requestsOf(false), await requestsOf(true)];
	expect(flat).toBeGreaterThanOrEqual(2 * AGENTS);
	expect(linked).toBeLessThan(flat / 2);
}, 120_000);
