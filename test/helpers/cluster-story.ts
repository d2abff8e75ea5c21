import { expect } from "vitest";
import { nothingIsLeft, told } from "./demo.js";
import type { Launch, LaunchSite } from "./launch.js";
import { isAlive } from "./processes.js";

/** The nodes of the last round of so many ranks, as the demo tells of it: two ranks each, without a gap. */
function worldOf(stdout: string, worldSize: number): readonly string[] {
	const line = new RegExp(
		`round \\d+ runs.*: ranks (.*) of ${worldSize}$`,
		"gm",
	);
	const [, ranks = ""] = [...stdout.matchAll(line)].at(-1) ?? [];
	const nodes = ranks.split(", ").map((one) => one.split(" ")[0] ?? "");
	const expected = nodes.map((nodeId, i) => `${nodeId} ${2 * i}-${2 * i + 1}`);
	expect(ranks.split(", ")).toEqual(expected);
	expect(nodes).toHaveLength(worldSize / 2);
	return nodes;
}

/** How long after the fault something was told, in milliseconds. */
function timesOf(stdout: string, text: string): readonly number[] {
	return stdout
		.split("\n")
		.filter((line) => line.includes(text))
		.map((line) => Number(/\+(\d+) ms/.exec(line)?.[1]));
}

/** Waits for the end of examples/cluster-demo.js, and checks what it tells and leaves. */
export async function expectClusterStory(
	site: LaunchSite,
	demo: Launch,
): Promise<void> {
	await told(demo, "are gone: ended by its guard");
	const pids = /its workers, (\d+) and (\d+), are gone/.exec(
		demo.output.stdout,
	);
	expect(pids?.slice(1).map(Number).map(isAlive)).toEqual([false, false]);

	const { exitCode, stdout, stderr } = await demo.ended;
	expect(stderr).toBe("");
	expect(stdout.match(/^ok .*$/gm)).toHaveLength(5);
	expect(stdout).not.toContain("FAILED");
	expect(exitCode).toBe(0);

	const [before = "", after = ""] = stdout.split("node-b is started again");
	const survivors = worldOf(before, 6).filter((node) => node !== "node-b");
	expect(worldOf(before, 4)).toEqual(survivors);
	expect(worldOf(after, 6)).toEqual([...survivors, "node-b"]);
	expect(before).toMatch(/leaves round 1: "rank \d failed: exit code 1"$/m);
	expect(after).toMatch(/leaves round \d+: "joining: node-b"$/m);
	await nothingIsLeft(site);

	// What it sums up is what it has told before, and what the launcher has written down.
	const [left = 0] = timesOf(before, "leaves round");
	const [trains = 0] = timesOf(before, "train again");
	const [leftAgain = 0] = timesOf(after, "leaves round");
	const [trainsAgain = 0] = timesOf(after, "train again");
	expect(left).toBeLessThan(trains);
	const [, down, downAgain] =
		/nobody trained for (\d+\.\d s) after the kill, .* and for (\d+\.\d s) when/.exec(
			stdout,
		) ?? [];
	// Both are rounded, to tenths of a second and to milliseconds.
	const off = Number.parseFloat(down ?? "") - trains / 1000;
	expect(Math.abs(off)).toBeLessThan(0.052);
	expect(Number.parseFloat(downAgain ?? "")).toBeCloseTo(
		(trainsAgain - leftAgain) / 1000,
		0,
	);
	expect(stdout).toMatch(/^2 +4 +2 .*; -node-b$/m);
	expect(stdout).toMatch(/^\d+ +6 +3 .* joining: node-b; \+node-b$/m);
}
