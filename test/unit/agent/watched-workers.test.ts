import { describe, expect, it } from "vitest";
import type { WorkerSlot } from "../../../src/agent/machine/worker.js";
import { watchedWorkers } from "../../../src/agent/steps/watched-workers.js";
import { workerSlot } from "../../helpers/worker-slots.js";

const PROCESSES = [0, 1].map((localRank) => ({
	...{ localRank, rank: localRank, pid: 100 + localRank },
	...{ directory: String(localRank), logs: undefined },
}));

const watched = (
	second: Partial<WorkerSlot>,
	times: { readonly wokeAt?: number; readonly lostUntil?: number } = {},
) =>
	watchedWorkers(
		[workerSlot(0), workerSlot(1, second)],
		PROCESSES,
		{
			of: ({ localRank }) => ({
				...{ movement: undefined, busyUntil: 40 },
				countedBy: localRank === 0 ? "hook" : "output",
			}),
		},
		{
			...{ since: 5, wokeAt: times.wokeAt ?? 0 },
			lostUntil: (source) => (source === "output" ? (times.lostUntil ?? 0) : 0),
		},
	);

describe("the workers that are judged for a hang", () => {
	it("A5 are all that run, none before the launcher itself went on", () => {
		const since = { since: 5, movement: undefined };
		expect(watched({})).toEqual([
			{ ...since, localRank: 0, busyUntil: 40 },
			{ ...since, localRank: 1, busyUntil: 40 },
		]);
		expect(watched({}, { wokeAt: 70 })).toMatchObject([
			{ busyUntil: 70 },
			{ busyUntil: 70 },
		]);
	});

	it("A5 are judged only for the time in which their steps could be seen", () => {
		expect(watched({}, { lostUntil: 90 })).toMatchObject([
			{ busyUntil: 40 },
			{ busyUntil: 90 },
		]);
	});

	it("A5 are those that have not ended", () => {
		expect(watched({ status: "gone" })).toMatchObject([{ localRank: 0 }]);
	});

	it.each<[string, Partial<WorkerSlot>]>([
		["was told to pause", { status: "pausing" }],
		["is paused", { status: "paused" }],
		["has exited, while its group has not", { status: "exited" }],
		["is told to end", { killAt: 9 }],
		["is not started yet", { pid: null }],
	])("A5 are none while one %s", (_, second) => {
		expect(watched(second)).toBeUndefined();
	});
});
