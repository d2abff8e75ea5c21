import { expect, it } from "vitest";
import { describeStuck } from "../../../src/evidence/describe-stuck.js";
import type { RankEvidence } from "../../../src/model/evidence.js";

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
