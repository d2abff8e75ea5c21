import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { RunDocument } from "../../src/status/run-document.js";
import { poll } from "../helpers/etcd-gateway.js";
import { shapeOf } from "../helpers/json-shape.js";
import { job, openSite } from "../helpers/launch.js";

/** Where the members of a public document are written down: they change only on purpose. */
const keptShape = (name: string) => `./golden/${name}-json.txt`;
const LIMIT = ["--hang-timeout", "3", "--output", "json"];

it("has the members that are kept of them: status of a run that works, its history and its report", async () => {
	const site = openSite();
	const run = site.launch(
		[
			...["--nproc-per-node", "2", "--run-id", "shapes"],
			...["--output", "json", job("steps.js")],
		],
		{ env: { HANG_RANK: "all", HANG_HOW: "busy", STEPS_BY: "report" } },
	);
	const document = async (command: string) => {
		const words = [command, "shapes", "--output", "json"];
		return JSON.parse((await site.launch(words).ended).stdout);
	};
	await site.sawWorkers(2);
	const status = await poll("three steps of both workers", 60_000, async () => {
		const seen: RunDocument = await document("status");
		const steps = seen.nodes[0]?.workers.map(({ step }) => step);
		return steps?.join() === "3,3" ? seen : undefined;
	});
	await expect(shapeOf(status)).toMatchFileSnapshot(keptShape("status"));
	run.signal("SIGTERM");
	const { stdout } = await run.ended;
	const report = JSON.parse(stdout);
	await expect(shapeOf(report)).toMatchFileSnapshot(keptShape("report"));
});

it("has the members that are kept of them: a hang's verdict, and the history and report of its run", async () => {
	const site = openSite();
	const run = site.launch(
		[
			...["--nproc-per-node", "2", "--run-id", "shapes"],
			...[...LIMIT, job("steps.js")],
		],
		{ env: { HANG_RANK: "1", HANG_HOW: "stop", OTHERS: "wait" } },
	);
	const { stdout, exitCode } = await run.ended;
	expect(exitCode).toBe(0);
	const kept = { name: "hung-report", document: JSON.parse(stdout) };
	const words = ["history", "shapes", "--output", "json"];
	const history = (await site.launch(words).ended).stdout;
	const verdict = readdirSync(site.logs, { recursive: true })
		.map(String)
		.find((path) => path.endsWith("hang.json"));
	const hang = readFileSync(join(site.logs, verdict ?? ""), "utf8");
	for (const { name, document } of [
		kept,
		{ name: "history", document: JSON.parse(history) },
		{ name: "hang", document: JSON.parse(hang) },
	]) {
		await expect(shapeOf(document)).toMatchFileSnapshot(keptShape(name));
	}
});
