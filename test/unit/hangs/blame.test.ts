import { describe, expect, it } from "vitest";
import { blame, blameAlone } from "../../../src/hangs/blame.js";
import type {
	Frame,
	GroupProgress,
	RankEvidence,
} from "../../../src/model/evidence.js";

const frame = (file: string, line: number, name: string): Frame => ({
	file,
	line,
	function: name,
});
const TRAIN = frame("/job/train.py", 60, "<module>");
const REDUCE = [
	frame("/lib/torch/distributed/distributed_c10d.py", 9, "all_reduce"),
	TRAIN,
];
const JOIN = [
	frame("/lib/torch/distributed/distributed_c10d.py", 9, "init_process_group"),
	TRAIN,
];
const SLEEP = [frame("/job/train.py", 41, "load_batch"), TRAIN];

function rank(
	number: number,
	change: Partial<RankEvidence> = {},
): RankEvidence {
	return {
		rank: number,
		localRank: number,
		nodeId: "node-a",
		pid: 100 + number,
		activity: "idle",
		waitChannel: "futex_wait",
		threads: 4,
		step: 50,
		frames: [],
		where: undefined,
		groups: [],
		...change,
	};
}

/** Its place in the default group: inside collective `sequence`, or with all of them over. */
function at(
	entered: number,
	operation?: string,
	{ group = "0", ranks = [0, 1, 2, 3], shape = "[4] Float" } = {},
): GroupProgress {
	const unfinished =
		operation === undefined
			? undefined
			: { sequence: entered, operation, shape };
	return { group, ranks, entered, unfinished };
}

/** Inside of its third collective of this group. */
const within = (group: string, ranks: number[]) =>
	at(3, "gloo:all_reduce", { group, ranks });
/** All its two collectives of this group are over. */
const over = (group: string, ranks: number[]) =>
	at(2, undefined, { group, ranks });

const inside = { groups: [at(6, "gloo:all_reduce")], frames: REDUCE };
const outside = {
	groups: [at(5)],
	frames: SLEEP,
	where: "train.py:41 in load_batch",
};
const LOADER = "/x/site-packages/torch/utils/data/dataloader.py";
const inLoader = (innermost: ReturnType<typeof frame>) => ({
	groups: [at(5)],
	frames: [innermost, frame(LOADER, 9, "_get"), TRAIN],
});

describe("blame", () => {
	it.each<[string, readonly (number | undefined)[], readonly number[]]>([
		["names the rank that is one step behind", [12, 11, 12], [1]],
		[
			"names nobody where most are behind: any of them may be it",
			[11, 11, 12],
			[],
		],
		["names nobody where a rank counts otherwise", [12, 11, 10], []],
		["names nobody where a rank counts no steps", [12, 11, undefined], []],
	])("%s, if nothing else tells", (_, steps, suspects) => {
		const ranks = steps.map((step, number) => rank(number, { step }));
		const found = blame(ranks, true);
		expect(found.suspects.map((one) => one.rank)).toEqual(suspects);
		expect(blame(ranks, false).suspects).toEqual([]);
	});

	it.each<[string, readonly RankEvidence[], object]>([
		[
			"names the rank that has not entered the oldest unfinished collective",
			[rank(0, inside), rank(1, outside), rank(2, inside), rank(3, inside)],
			{
				kind: "hung",
				suspects: [
					{
						rank: 1,
						node: "node-a",
						where: "train.py:41 in load_batch",
						why: "it has not entered gloo:all_reduce [4] Float (collective 6), in which the others wait",
					},
				],
				waiting: [0, 2, 3],
			},
		],
		[
			"names the rank that an exception ends, wherever its exit is held up",
			[
				rank(0, { frames: REDUCE }),
				rank(1, { frames: REDUCE, where: "a.py:1 in b", raised: "KeyError" }),
				rank(2, { raised: "KeyError", activity: "gone" }),
			],
			{
				...{ kind: "hung", waiting: [0] },
				suspects: [
					{ rank: 1, where: null, why: "it has not ended after KeyError" },
				],
			},
		],
		[
			"never names who is inside, whatever the stack says",
			[rank(0, { ...inside, frames: SLEEP }), rank(1, outside)],
			{ suspects: [{ rank: 1 }], waiting: [0] },
		],
		[
			"names a rank whose recorder is mute where the others wait: C code holds the interpreter",
			[rank(0, inside), rank(1, { frames: SLEEP }), rank(2, inside)],
			{
				suspects: [{ rank: 1, why: expect.stringMatching("does not answer") }],
			},
		],
		[
			"does not name a rank whose recorder is mute if it waits by its stack",
			[rank(0, inside), rank(1, { frames: REDUCE }), rank(2, outside)],
			{ suspects: [{ rank: 2 }], waiting: [0, 1] },
		],
		[
			"takes a backward pass without a model's own code for waiting",
			[
				rank(0, inside),
				rank(1, {
					frames: [
						frame("/x/site-packages/torch/g.py", 9, "_engine_run_backward"),
						TRAIN,
					],
				}),
				rank(2, outside),
			],
			{ suspects: [{ rank: 2 }], waiting: [0, 1] },
		],
		[
			"names a rank that has ended while the others wait for it",
			[rank(0, inside), rank(1, { activity: "gone" }), rank(2, inside)],
			{ suspects: [{ rank: 1, why: expect.stringMatching("it has ended") }] },
		],
		[
			"does not compare the stack of a rank that has ended",
			[
				...[rank(0, { frames: SLEEP }), rank(1, { frames: SLEEP })],
				rank(2, { activity: "gone" }),
			],
			{ suspects: [] },
		],
		[
			"names the only rank that has not ended",
			[rank(0, { activity: "gone" }), rank(1)],
			{
				suspects: [
					{ rank: 1, why: expect.stringMatching("all others have ended") },
				],
			},
		],
		[
			"says of a suspect that its data loader starves it",
			[
				rank(0, inside),
				rank(
					1,
					inLoader(frame("/usr/lib/python3.11/selectors.py", 415, "select")),
				),
			],
			{
				suspects: [
					{
						rank: 1,
						why: expect.stringMatching("; it waits for its data loader$"),
					},
				],
			},
		],
		[
			"does not say so of the code of a data set, which a loader has called",
			[
				rank(0, inside),
				rank(1, inLoader(frame("/job/data.py", 7, "__getitem__"))),
			],
			{ suspects: [{ rank: 1, why: expect.not.stringMatching("loader") }] },
		],
		[
			"names who has not joined the process group, and where it is",
			[
				rank(0, { frames: JOIN, processGroup: "joining" }),
				// C code holds its interpreter.
				rank(1, { processGroup: "joining" }),
				rank(2, { frames: SLEEP, where: "train.py:41 in load_batch" }),
				rank(3),
			],
			{
				kind: "hung",
				suspects: [
					{
						rank: 2,
						why: "it has not joined the process group; it is at train.py:41 in load_batch",
					},
					{ rank: 3, why: "it has not joined the process group" },
				],
				waiting: [0, 1],
				reason: "the others wait for it in init_process_group",
			},
		],
		[
			"names nobody where all wait to join, or have joined",
			[
				rank(0, { frames: JOIN, processGroup: "joining" }),
				rank(1, { frames: SLEEP, processGroup: "joined" }),
			],
			{ suspects: [], reason: expect.stringMatching("do not meet there") },
		],
		[
			"calls a suspect slow that computes",
			[rank(0, inside), rank(1, { ...outside, activity: "busy" })],
			{ kind: "slow", suspects: [{ rank: 1 }] },
		],
		[
			"does not call a suspect slow because those that wait for it spin",
			[rank(0, { ...inside, activity: "busy" }), rank(1, outside)],
			{ kind: "hung", suspects: [{ rank: 1 }] },
		],
		[
			"names a stopped rank first",
			[rank(0, outside), rank(1, { ...inside, activity: "stopped" })],
			{ kind: "stopped", suspects: [{ rank: 1 }], waiting: [] },
		],
		[
			"names a rank in kernel state D",
			[rank(0), rank(1, { activity: "blocked", waitChannel: "nfs_wait" })],
			{
				kind: "hung",
				suspects: [{ rank: 1, why: expect.stringMatching("nfs_wait") }],
			},
		],
		[
			"quotes both sides of a mismatch, and names the smaller",
			[
				rank(0, inside),
				rank(1, { groups: [at(6, "gloo:broadcast")] }),
				rank(2, inside),
			],
			{
				kind: "mismatch",
				suspects: [
					{
						rank: 1,
						why: "it is in gloo:broadcast [4] Float (collective 6), others in gloo:all_reduce [4] Float (collective 6)",
					},
				],
				waiting: [0, 2],
			},
		],
		[
			"names nobody where the sides of a mismatch are equal",
			[rank(0, inside), rank(1, { groups: [at(6, "gloo:broadcast")] })],
			{ kind: "mismatch", suspects: [], waiting: [0, 1] },
		],
		[
			"looks only at the ranks of the group",
			[
				rank(0, {
					groups: [at(3, "gloo:all_reduce", { group: "1", ranks: [0, 1] })],
				}),
				rank(1, { groups: [at(2, undefined, { group: "1", ranks: [0, 1] })] }),
				rank(2, { groups: [] }),
			],
			{ suspects: [{ rank: 1 }], waiting: [0] },
		],
		[
			"without recorders names who waits for nobody while others wait",
			[rank(0, { frames: REDUCE }), rank(1, { frames: SLEEP })],
			{ kind: "hung", suspects: [{ rank: 1 }], waiting: [0] },
		],
		[
			"without recorders names the smaller part of the stacks",
			[0, 1, 2].map((one) =>
				rank(one, {
					frames: one === 2 ? SLEEP : [frame("/job/train.py", 7, "f")],
				}),
			),
			{ kind: "hung", suspects: [{ rank: 2 }], waiting: [] },
		],
		[
			"names the rank that is one step behind, whatever stacks the others have while they poll",
			[
				rank(0, { frames: [frame("node:fs", 9, "existsSync"), TRAIN] }),
				rank(1),
				rank(2),
				rank(3, { frames: SLEEP, step: 49 }),
			],
			{ kind: "hung", suspects: [{ rank: 3 }], waiting: [] },
		],
		[
			"names nobody where two stacks have as many ranks",
			[rank(0, { frames: SLEEP }), rank(1, { frames: [TRAIN] })],
			{
				suspects: [],
				waiting: [],
				reason: expect.stringMatching("no suspect"),
			},
		],
		[
			"names nobody where all are in the same collective: the network is at fault",
			[rank(0, inside), rank(1, inside)],
			{ kind: "hung", suspects: [], waiting: [0, 1] },
		],
		[
			"names the only rank",
			[rank(0)],
			{ suspects: [{ rank: 0, where: null }] },
		],
		["of nothing names nobody", [], { suspects: [], waiting: [] }],
		[
			"names who is missing in one group and waits in no other",
			[
				// Ranks 0 and 1 make group "1", 0 and 2 group "2", 1 and 3 group "3", 2 and 3 group "4"; rank 3 hangs.
				rank(0, { groups: [within("1", [0, 1]), over("2", [0, 2])] }),
				rank(1, { groups: [over("1", [0, 1]), within("3", [1, 3])] }),
				rank(2, { groups: [within("4", [2, 3]), over("2", [0, 2])] }),
				rank(3, { groups: [over("4", [2, 3]), over("3", [1, 3])] }),
			],
			{ kind: "hung", suspects: [{ rank: 3 }], waiting: [0, 1, 2] },
		],
		[
			"names nobody where ranks wait for each other in two groups",
			[
				rank(0, { groups: [within("1", [0, 1]), over("2", [0, 1])] }),
				rank(1, { groups: [over("1", [0, 1]), within("2", [0, 1])] }),
			],
			{ kind: "mismatch", suspects: [], waiting: [0, 1] },
		],
		[
			"does not take a model's own code inside of DistributedDataParallel for waiting",
			[
				rank(0, { frames: REDUCE }),
				rank(1, {
					frames: [
						frame("/job/model.py", 5, "forward"),
						frame("/x/site-packages/torch/nn/parallel/distributed.py", 9, "f"),
						TRAIN,
					],
				}),
			],
			{ kind: "hung", suspects: [{ rank: 1 }], waiting: [0] },
		],
		[
			"calls a round slow without a suspect in which one rank computes, as in an evaluation",
			[rank(0, { activity: "busy" }), rank(1), rank(2)],
			{ kind: "slow", suspects: [] },
		],
	])("A5 %s", (_, evidence, expected) => {
		expect(blame(evidence, true)).toMatchObject(expected);
		expect(blame([...evidence].reverse(), true)).toMatchObject(expected);
	});

	it("A5 does not call a rank the only one while other nodes are silent", () => {
		expect(blame([rank(3)], false)).toMatchObject({
			...{ suspects: [], waiting: [] },
		});
	});
});

describe("the blame of ranks that stand still while others make steps", () => {
	it.each<[string, Partial<RankEvidence>, object | undefined]>([
		["is stopped", { activity: "stopped" }, { kind: "stopped" }],
		["is in kernel state D", { activity: "blocked" }, { kind: "hung" }],
		[
			"does nothing",
			{ frames: SLEEP, where: "train.py:41 in load_batch" },
			{ kind: "hung", suspects: [{ where: "train.py:41 in load_batch" }] },
		],
		["computes", { activity: "busy" }, { kind: "slow" }],
		["waits for other ranks, by its stack", { frames: REDUCE }, undefined],
		["waits for other ranks, by its recorder", inside, undefined],
		[
			"polls while it waits for others",
			{ frames: REDUCE, activity: "busy" },
			undefined,
		],
		["has ended", { activity: "gone" }, undefined],
		["is not known to the kernel's view", { threads: undefined }, undefined],
	])("A4 one that %s: %o", (_, change, verdict) => {
		const found = blameAlone([rank(3, change)]);
		if (verdict === undefined) expect(found).toBeUndefined();
		else {
			expect(found).toMatchObject({ suspects: [{ rank: 3 }], ...verdict });
		}
	});

	it("A4 are those that are stopped, else those that do nothing, and never those that only wait", () => {
		const waits = rank(0, { frames: REDUCE });
		const idle = rank(1, { frames: SLEEP });
		const busy = rank(2, { activity: "busy" });
		const held = rank(3, { activity: "stopped" });
		const suspects = (...ranks: readonly RankEvidence[]) =>
			blameAlone(ranks)?.suspects.map((one) => one.rank);
		expect(suspects(waits, idle, busy, held)).toEqual([3]);
		expect(suspects(waits, idle, busy)).toEqual([1]);
		expect(suspects(waits, busy)).toEqual([2]);
	});
});
