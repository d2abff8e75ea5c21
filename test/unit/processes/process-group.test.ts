import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import { isLiving, parseProcessStat } from "../../../src/base/process-stat.js";
import type { ProcessGroups } from "../../../src/processes/process-group.js";
import {
	GroupCensus,
	signalGroup,
	signalProcess,
} from "../../../src/processes/process-group.js";

const stat = (name: string, state: string, threads = 1) =>
	`812 (${name}) ${state} 1 700 600 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 ${threads} 0 91234 2703360 0 18446744073709551615`;

describe("a line of /proc/PID/stat", () => {
	test("is read whatever the name, and is nothing where it is not one", () => {
		expect(parseProcessStat(stat("odd) S 1 2 3", "S"))).toEqual({
			pid: 812,
			state: "S",
			parentId: 1,
			groupId: 700,
			sessionId: 600,
			threads: 1,
			startTime: 91234,
		});
		expect(parseProcessStat("x (sleep) S 1 2 3")).toBeUndefined();
	});

	test.each([
		["S", 1, true],
		["T", 1, true],
		["Z", 1, false],
		["x", 1, false],
		["Z", 3, true],
	])("in state %s with %i threads: living is %s", (state, threads, living) => {
		const entry = parseProcessStat(stat("a", state, threads));
		expect(entry && isLiving(entry)).toBe(living);
	});
});

/** A group whose leader was reaped; `child` is its only process. */
async function leaderless() {
	const leader = spawn("sh", ["-c", "sleep 600 >&- & echo $!"], {
		detached: true,
		stdio: ["ignore", "pipe", "ignore"],
	});
	const [said] = await once(leader.stdout, "data");
	await once(leader, "close");
	const child = Number(String(said));
	onTestFinished(() => void process.kill(child, "SIGKILL"));
	return { groupId: leader.pid ?? 0, child };
}

test.each([
	0, 1, -1,
])("the number %i, which is no worker's, is never signalled", (pid) => {
	expect([signalProcess(pid, 0), signalGroup(pid, 0)]).toEqual([
		"nobody",
		"nobody",
	]);
});

describe.skipIf(process.platform !== "linux")(
	"a group without a leader",
	() => {
		test("has a living member, which is found in the table", async () => {
			const { groupId, child } = await leaderless();
			expect(new GroupCensus().livingMember(groupId, undefined)).toBe(child);
		});

		const tables: readonly [string, ProcessGroups | undefined, boolean][] = [
			["misses it, because it was forked meanwhile", new Map(), true],
			["cannot be read", undefined, true],
			["has only zombies of it", new Map([[0, undefined]]), false],
		];
		test.each(
			tables,
		)("whose table %s: lives is %s", async (_, table, lives) => {
			const { groupId } = await leaderless();
			const seen =
				table && new Map([...table].map(([, pid]) => [groupId, pid]));
			const census = new GroupCensus(() => seen);
			const member = census.livingMember(groupId, undefined);
			expect(member !== undefined).toBe(lives);
		});

		test("that is empty has none, whatever the table", () => {
			const census = new GroupCensus(() => new Map());
			expect(census.livingMember(424_242_424, undefined)).toBeUndefined();
		});
	},
);
