import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { backOffMs, Pod } from "../../helpers/kubelet.js";

it.each([
	[1, 0],
	[2, 10],
	[3, 20],
	[4, 40],
	[6, 160],
	[7, 300],
	[50, 300],
])("J19 the stand-in for the kubelet waits as it does before restart %i: %i s", (restart, seconds) => {
	expect(backOffMs(restart)).toBe(seconds * 1_000);
});

/** Notes when it starts and ends, and asks three times for a restart of all. */
const MAIN = `
const { appendFileSync, readFileSync } = require("node:fs");
const [, times] = process.argv;
const note = (word) => appendFileSync(times, word + " " + Date.now() + "\\n");
note("start");
const starts = readFileSync(times, "utf8").match(/start/g).length;
note("end");
process.exit(starts < 4 ? 9 : 7);
`;
const FACTOR = 0.02;

it("J19 the stand-in for the kubelet waits before it restarts all containers, longer each time", async () => {
	const cwd = mkdtempSync(join(tmpdir(), "elastic-run-kubelet-"));
	onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
	const times = join(cwd, "times");
	const node = process.execPath;
	const pod = new Pod({
		...{ cwd, timeFactor: FACTOR, output: "ignore" },
		sidecar: {
			...{ name: "sidecar", env: {}, restartAllOn: [] },
			command: [node, "-e", "setInterval(() => {}, 1_000)"],
		},
		main: {
			...{ name: "main", env: {}, restartAllOn: [9] },
			command: [node, "-e", MAIN, times],
		},
	});
	onTestFinished(() => pod.close());
	expect(await pod.ended).toBe(7);
	const at = readFileSync(times, "utf8")
		.trim()
		.split("\n")
		.map((line) => Number(line.split(" ")[1]));
	const gap = (restart: number) =>
		(at[2 * restart] ?? 0) - (at[2 * restart - 1] ?? 0);
	for (const restart of [2, 3]) {
		const least = backOffMs(restart) * FACTOR;
		expect(gap(restart)).toBeGreaterThanOrEqual(least - 1);
	}
	expect(at).toHaveLength(8);
});
