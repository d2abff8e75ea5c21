import { expect, test } from "vitest";
import {
	judgeNode,
	type NodeMeasures,
} from "../../../src/preflight/judge-node.js";

const SPEEDS = { processor: 1_000, memory: 8_000, disk: 200 };
const GOOD: NodeMeasures = {
	speeds: SPEEDS,
	free: [{ directory: "/logs", bytes: 5e9 }],
	clock: { aheadMs: 400, uncertainMs: 500 },
	unreachable: [],
};
const OTHERS = [SPEEDS, { ...SPEEDS, processor: 1_200 }, SPEEDS];

test.each<[string, Partial<NodeMeasures>, typeof OTHERS, readonly string[]]>([
	["is as fast as the others", {}, OTHERS, []],
	[
		"has a slow processor",
		{ speeds: { ...SPEEDS, processor: 499 } },
		OTHERS,
		[
			"the processor is slow: 499 MB/s, where the median of 3 other nodes is 1000 MB/s",
		],
	],
	[
		"is exactly half as fast",
		{ speeds: { ...SPEEDS, memory: 4_000 } },
		OTHERS,
		[],
	],
	[
		"has a disk too slow to be measured",
		{ speeds: { ...SPEEDS, disk: null } },
		OTHERS,
		["the disk was too slow to be measured"],
	],
	[
		"is slower than one other node, which says little",
		{ speeds: { ...SPEEDS, processor: 1 } },
		[SPEEDS],
		[],
	],
	[
		"has a full disk, and one of unknown size",
		{
			free: [
				{ directory: "/logs", bytes: 5 * 1024 ** 2 },
				{ directory: "/dev/shm", bytes: null },
			],
		},
		OTHERS,
		["/logs has 5 MB free; 1024 MB are the least"],
	],
	[
		"has a clock that goes ahead",
		{ clock: { aheadMs: 61_000, uncertainMs: 510 } },
		OTHERS,
		["the clock is 61.0 s ahead of etcd's"],
	],
	[
		"has one that is behind",
		{ clock: { aheadMs: -3_000, uncertainMs: 510 } },
		OTHERS,
		["the clock is 3.0 s behind etcd's"],
	],
	[
		"has one that may be right",
		{ clock: { aheadMs: 2_400, uncertainMs: 510 } },
		OTHERS,
		[],
	],
	[
		"cannot reach a peer",
		{
			unreachable: [
				{ nodeId: "b", address: "10.0.0.2", problem: "EHOSTUNREACH" },
			],
		},
		OTHERS,
		["b does not answer at 10.0.0.2: EHOSTUNREACH"],
	],
])("D11 a node that %s", (_, change, others, findings) => {
	expect(judgeNode({ ...GOOD, ...change }, others)).toEqual(findings);
});
