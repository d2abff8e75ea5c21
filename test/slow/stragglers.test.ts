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
