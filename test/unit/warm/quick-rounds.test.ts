import { describe, expect, it } from "vitest";
import type { WorkerExit } from "../../../src/processes/worker.js";
import { QuickRounds } from "../../../src/warm/quick-rounds.js";

type End = readonly [round: string, uptimeMs: number, by: "itself" | "agent"];

/** How many rounds in a row have failed at once after these ends. */
function countAfter(...ends: readonly End[]): number {
	const rounds = new QuickRounds();
	for (const [round, uptimeMs, by] of ends) {
		const signalledByAgent = by === "agent";
		const exit = { code: 1, signal: null, uptimeMs, signalledByAgent };
		rounds.noteEnd(exit, round);
	}
	return rounds.count;
}

describe("rounds whose warm workers failed at once", () => {
	it.each<readonly [string, number, readonly End[]]>([
		[
			"count once each",
			1,
			[
				["2", 100, "itself"],
				["2", 100, "itself"],
			],
		],
		[
			"count in a row",
			2,
			[
				["2", 100, "itself"],
				["3", 100, "itself"],
			],
		],
		[
			"count if a peer took longer to end",
			2,
			[
				["2", 100, "itself"],
				["2", 5_000, "agent"],
				["3", 100, "itself"],
				["3", 5_000, "agent"],
			],
		],
		[
			"do not count before one that lasted",
			1,
			[
				["2", 100, "itself"],
				["3", 60_000, "agent"],
				["4", 100, "itself"],
			],
		],
		["do not count what the launcher has ended", 0, [["2", 100, "agent"]]],
	])("%s", (_, count, ends) => {
		expect(countAfter(...ends)).toBe(count);
	});

	it.each<readonly [string, number, Partial<WorkerExit>]>([
		["fails as early", 0, {}],
		["lasted", 2, { uptimeMs: 60_000 }],
		["was ended by the launcher", 2, { signalledByAgent: true }],
		["succeeded", 2, { code: 0 }],
	])("are counted from zero again if a cold one after them %s", (_, count, change) => {
		const rounds = new QuickRounds();
		const exit = { code: 1, signal: null, uptimeMs: 100 };
		for (const round of ["2", "3"]) {
			rounds.noteEnd({ ...exit, signalledByAgent: false }, round);
		}
		rounds.noteColdEnd({ ...exit, signalledByAgent: false, ...change });
		expect(rounds.count).toBe(count);
	});
});
