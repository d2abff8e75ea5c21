import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Goodput } from "../../src/status/goodput/describe-goodput.js";
import type { RunDocument } from "../../src/status/run-document.js";
import { poll } from "../helpers/etcd-gateway.js";
import { job, openSite } from "../helpers/launch.js";

it("A10 names the rank that each step waits for, and says when it is over", async () => {
	const site = openSite();
	const barrier = join(site.path, "barrier");
	mkdirSync(barrier);
	const over = join(site.path, "over");
	const launch = site.launch(
		["--nproc-per-node", "4", "--run-id", "lags", job("lags.js")],
		{ env: { LAG_RANK: "2", LAG_OVER: over, BARRIER: barrier } },
	);
	await launch.saw("stderr", "each step waits for rank 2 on ");
	const { straggler, nodes } = await poll(
		"a straggler in status",
		30_000,
		async () => {
			const json = await site.launch(["status", "lags", "--output", "json"])
				.ended;
			const status: RunDocument = JSON.parse(json.stdout);
			return (status.straggler?.lostSeconds ?? 0) > 0 ? status : undefined;
		},
	);
	expect(straggler).toMatchObject({ rank: 2, node: nodes[0]?.nodeId });
	expect(straggler?.lostSecondsPerStep).toBeGreaterThan(0.08);
	const table = await site.launch(["status", "lags"]).ended;
	expect(table.stdout).toMatch(/ {2}each step waits for rank 2 on \S+: \d+ ms/);
	writeFileSync(over, "");
	await launch.saw("stderr", "the steps no longer wait for rank 2 on ");
	launch.signal("SIGTERM");
	const { stderr } = await launch.ended;
	expect(stderr).not.toMatch(/waits for rank [013]/);
	const json = await site.launch(["goodput", "lags", "--output", "json"]).ended;
	const { ledger }: Goodput = JSON.parse(json.stdout);
	expect(ledger.straggler).toBeGreaterThan(0);
}, 120_000);

it("C3 names a rank that makes no step while the others go on, everywhere", async () => {
	const site = openSite();
	const launch = site.launch(
		["--nproc-per-node", "2", "--run-id", "dead", job("lags.js")],
		{ env: { LAG_RANK: "1", LAG_FROM: "11", LAG_MS: "1000000" } },
	);
	const words = /rank 1 on \S+: no step for [\d.]+ s, [\d,]+ behind/i;
	const status = () => site.launch(["status", "dead"]).ended;
	await poll("a rank behind in status", 60_000, async () =>
		words.test((await status()).stdout) ? true : undefined,
	);
	const why = await site.launch(["why", "dead"]).ended;
	expect(why.stdout).toMatch(/^run dead, round 1: rank 1: hung\n/);
	expect(why.stdout).toMatch(words);
	launch.signal("SIGTERM");
	await launch.ended;
}, 120_000);

it("C2 names no rank where ranks do not wait for each other, and calls none of their time lost", async () => {
	const site = openSite();
	const launch = site.launch(
		["--nproc-per-node", "4", "--run-id", "free", job("lags.js")],
		{ env: { LAG_RANK: "2", STEP_MS: "75", LAG_MS: "25" } },
	);
	await poll("many steps of all ranks", 60_000, async () => {
		const json = await site.launch(["status", "free", "--output", "json"])
			.ended;
		if (json.stdout === "") return undefined;
		const { nodes }: RunDocument = JSON.parse(json.stdout);
		const workers = nodes.flatMap((node) => node.workers);
		const isLong = workers.every(({ step }) => step > 110);
		return workers.length === 4 && isLong ? nodes : undefined;
	});
	launch.signal("SIGTERM");
	const { stderr } = await launch.ended;
	expect(stderr).not.toContain("waits for rank");
	const json = await site.launch(["goodput", "free", "--output", "json"]).ended;
	const { ledger, goodput }: Goodput = JSON.parse(json.stdout);
	expect(ledger.straggler).toBe(0);
	expect(goodput).toBeGreaterThan(0.3);
}, 120_000);
