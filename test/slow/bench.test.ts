import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { findEtcd } from "../../scripts/find-etcd.js";

const BENCH = fileURLToPath(new URL("../../bench/run.js", import.meta.url));

/** Without torch, whose start alone takes seconds. */
const bench = (...args: string[]) =>
	promisify(execFile)(process.execPath, [BENCH, ...args], {
		env: { ...process.env, PYTHON: "no-such-python" },
	});

it("prints the machine, who is skipped, and a table of the figure that is asked for", async () => {
	const { stdout } = await bench("--quick", "cold-start-4");
	expect(stdout).toMatch(/^machine: .+ cores, .+ GiB, Linux .+, load /m);
	expect(stdout).toMatch(/^versions: node .+, elastic-run \d/m);
	expect(stdout).toContain("torchrun: no-such-python cannot import torch");
	const table = stdout.split("\n").filter((line) => line.startsWith("|"));
	const cells = table.map((line) => line.split("|").map((cell) => cell.trim()));
	expect(cells[0]?.slice(1, -1)).toEqual([
		"figure",
		"launcher",
		"median",
		"min–max",
		"n",
		"ratio",
		"goal",
		"met",
	]);
	const [, name, launcher, median, range, rounds, ratio, goal, isMet] =
		cells[2] ?? [];
	expect([name, launcher, rounds]).toEqual([
		"cold-start-4",
		"elastic-run",
		"2",
	]);
	expect(median).toMatch(/^[\d.]+ ms$/);
	expect(range).toMatch(/^[\d.]+–[\d.]+$/);
	expect(ratio).toMatch(/^[\d.]+ ×$/);
	expect(goal).toBe("≤ 4 × Node by hand");
	expect(isMet).toMatch(/^(yes|no)$/);
	expect(cells[3]?.[2]).toBe("Node by hand");
});

it("measures a run over two agents, and what etcd alone takes beside it", async (context) => {
	if (findEtcd() === undefined) context.skip("there is no etcd");
	const { stdout } = await bench("--quick", "cluster-restart");
	const rows = stdout.split("\n").filter((line) => line.startsWith("|"));
	const [own, floor] = rows
		.slice(2)
		.map((line) => line.split("|").map((cell) => cell.trim()));
	expect(own?.slice(1, 3)).toEqual(["cluster-restart", "elastic-run"]);
	expect(own?.slice(7, 9)).toEqual([
		"≤ 85 ms",
		expect.stringMatching(/^(yes|no)$/),
	]);
	expect(floor?.[2]).toBe("etcd, once told");
	expect(floor?.[6]).toBe("1 ×");
}, 120_000);

it("refuses a figure that it does not have, and names those that it has", async () => {
	await expect(bench("cold-fusion")).rejects.toMatchObject({
		code: 2,
		stderr: expect.stringContaining("restart-64, ignored-sigterm"),
	});
});
