import { describe, expect, it } from "vitest";
import {
	type AgentState,
	INITIAL_STATE,
	type Stopping,
} from "../../../src/agent/machine/state.js";
import type { WorkerSlot } from "../../../src/agent/machine/worker.js";
import { waitsInVain } from "../../../src/hangs/accusation.js";
import {
	describeStuck,
	lookAt,
	stuckPeers,
} from "../../../src/hangs/stuck-watch.js";
import type { RankEvidence } from "../../../src/model/evidence.js";
import type { FailureRecord } from "../../../src/rendezvous/records/failure.js";
import { seatRecord } from "../../helpers/run-view.js";
import { workerSlot as slot } from "../../helpers/worker-slots.js";

const ROOT: FailureRecord = {
	...{ id: "node-a/1/1", nodeId: "node-a", round: 3, rank: 0, localRank: 0 },
	...{ role: "default", pid: 100, exitCode: 1, signal: null, uptimeMs: 5 },
	...{ timestamp: 0, description: "exit code 1" },
};

/** Local rank 0 has failed, and the others are told to end until 31,000. */
function stopping(
	change: Partial<WorkerSlot> = {},
	root: Partial<FailureRecord> = {},
): Stopping {
	return {
		...INITIAL_STATE,
		...{ phase: "STOPPING", view: null, instance: 7, failuresReported: 1 },
		failure: {
			...{ charge: "run", failsRun: null },
			failure: { ...ROOT, ...root },
		},
		...{ round: 3, seat: seatRecord("node-a"), claim: 4 },
		workers: [
			slot(0, { status: "gone" }),
			slot(1, Object.assign({ killAt: 31_000 }, change)),
			slot(2, { killAt: 31_000 }),
		],
	};
}

describe("stuck peers", () => {
	it("A5 are those that were told to end because another worker failed, and have not", () => {
		expect(stuckPeers(stopping())).toEqual({
			...{ round: 3, localRanks: [1, 2], killAt: 31_000, areKnown: false },
		});
	});

	it.each<[string, Partial<WorkerSlot>]>([
		["is not told to end: it is kept", { status: "paused" }],
		["has been killed", { killAt: null, goneBy: 36_000 }],
		["has ended, with others of its group left", { status: "exited" }],
		["is the one that failed", { pid: 100 }],
	])("A5 are without one that %s", (_, change) => {
		expect(stuckPeers(stopping(change))?.localRanks).toEqual([2]);
	});

	it.each<[string, AgentState]>([
		["no round is left", { ...stopping(), phase: "JOINING" }],
		["nothing has failed", { ...stopping(), failure: null }],
		["an earlier round had failed", stopping({}, { round: 2 })],
	])("A5 are none where %s", (_, state) => {
		expect(stuckPeers(state)).toBeUndefined();
	});

	it("A5 are known where the round hung, with its evidence taken", () => {
		expect(stuckPeers(stopping({}, { evidence: [] }))?.areKnown).toBe(true);
	});

	it("A5 are looked at within a moment, and well before they are killed", () => {
		const killAt = 31_000;
		const peers = { round: 3, localRanks: [1], killAt, areKnown: false };
		expect(lookAt(peers, 1_000)).toBe(2_000);
		expect(lookAt({ ...peers, killAt: 1_300 }, 1_000)).toBe(1_100);
	});
});

function rank(number: number, change: Partial<RankEvidence>): RankEvidence {
	return {
		...{ rank: number, localRank: number, nodeId: "node-a", pid: 100 + number },
		...{ activity: "idle", waitChannel: "futex_wait", threads: 4 },
		...{ step: 50, frames: [], where: undefined, groups: [] },
		...change,
	};
}

it("A5 tells of stuck peers by their places, without those that work or have ended", () => {
	const where = "train.py:41 in all_reduce";
	const lines = describeStuck([
		rank(1, { where }),
		rank(2, { where, activity: "busy" }),
		rank(3, { where }),
		rank(4, { activity: "stopped" }),
		rank(5, { activity: "gone" }),
		rank(6, {}),
	]);
	expect(lines).toEqual([
		"2 peers were stuck: ranks 1, 3 at train.py:41 in all_reduce",
		"1 peer was stuck: rank 4 stopped by SIGSTOP or a debugger",
		"1 peer was stuck: rank 6 waiting in futex_wait",
	]);
});

const frame = (file: string, name: string) => ({
	...{ file, line: 9, function: name },
});
const TRAIN = frame("/job/train.py", "<module>");
const REDUCE = frame(
	"/lib/torch/distributed/distributed_c10d.py",
	"all_reduce",
);

it.each<[string, boolean, Partial<RankEvidence>]>([
	["waits in a collective", true, { frames: [REDUCE, TRAIN] }],
	[
		"waits in jax's shutdown, at the exit of its process",
		true,
		{
			frames: [
				frame("/v/site-packages/jax/_src/distributed.py", "shutdown"),
				frame("/v/site-packages/jax/_src/distributed.py", "shutdown"),
			],
		},
	],
	[
		"waits in a collective that activations are computed again for",
		true,
		{
			frames: [
				REDUCE,
				frame("/v/site-packages/torch/utils/checkpoint.py", "checkpoint"),
				TRAIN,
			],
		},
	],
	["computes", false, { frames: [REDUCE, TRAIN], activity: "busy" }],
	["is stopped", false, { frames: [REDUCE, TRAIN], activity: "stopped" }],
	[
		"saves, and waits for others in that",
		false,
		{ frames: [REDUCE, frame("/job/train.py", "save_state"), TRAIN] },
	],
	["waits elsewhere", false, { frames: [frame("/job/data.py", "load")] }],
	["has no stack that is known", false, { frames: [] }],
])("A5 one that %s waits in vain: %s", (_, waits, change) => {
	expect(waitsInVain(rank(1, change))).toBe(waits);
});
