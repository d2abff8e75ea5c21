import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ProcessGroups } from "../../../src/processes/process-group.js";
import {
	GroupCensus,
	signalGroup,
	signalProcess,
} from "../../../src/processes/process-group.js";

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
