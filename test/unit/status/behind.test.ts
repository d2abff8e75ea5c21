import { describe, expect, it } from "vitest";
import { behindInWords, behindOf } from "../../../src/status/behind.js";
import type { WorkerStatus } from "../../../src/status/run-document.js";
import { nodeStatus } from "../../helpers/run-status.js";

/** Of each rank its last step, how many seconds ago, and its rate. */
type Steps = readonly (readonly [number, number, number?])[];

const workersOf = (steps: Steps, first = 0) =>
	steps.map(
		([step, secondsSinceStep, stepRate = 5], localRank): WorkerStatus => ({
			...{ localRank, rank: first + localRank, step, stepRate },
			...{ secondsSinceStep, stepSource: "report", start: "cold", metrics: {} },
		}),
	);
const nodes = (...of: readonly Steps[]) =>
	of.map((steps, index) =>
		nodeStatus(`node-${index}`, { workers: workersOf(steps, 2 * index) }),
	);

describe("C3 ranks that are behind", () => {
	it.each<[string, readonly Steps[], readonly string[]]>([
		[
			"are those without steps while others make some",
			[
				[
					[3_310, 0.4],
					[10, 662],
				],
			],
			["rank 1 on node-0: no step for 11 min 2 s, 3,300 behind"],
		],
		[
			"may be of another node",
			[
				[
					[90, 1],
					[91, 2],
				],
				[
					[40, 30],
					[90, 2],
				],
			],
			["rank 2 on node-1: no step for 30.0 s, 51 behind"],
		],
		[
			"are none where all stand still",
			[
				[
					[90, 662],
					[91, 661],
				],
			],
			[],
		],
		[
			"are none that are a moment late",
			[
				[
					[90, 9],
					[91, 0.2],
				],
			],
			[],
		],
		[
			"are none whose usual step takes so long",
			[
				[
					[3, 100, 0.1],
					[4, 20, 0.1],
				],
			],
			[],
		],
		[
			"may be further, where each counts its own",
			[
				[
					[90, 0],
					[500, 60],
				],
			],
			["rank 1 on node-0: no step for 60.0 s"],
		],
	])("%s", (_, steps, words) => {
		expect(behindInWords(behindOf(nodes(...steps)))).toEqual(words);
	});

	it("are none that save, have ended, or are of another role", () => {
		const [node] = nodes([
			[900, 0],
			[10, 60],
		]);
		const [first, late] = node?.workers ?? [];
		if (!node || !first || !late) throw new Error("no workers");
		const busy = [{ rank: 1, what: "saves a checkpoint", since: 0 }];
		expect(behindOf([node], busy)).toEqual([]);
		const ended = {
			...node,
			workers: [first, { ...late, ended: true as const }],
		};
		expect(behindOf([ended])).toEqual([]);
		const one = nodeStatus("a", { workers: [first] });
		const other = nodeStatus("b", { workers: [late], role: "reader" });
		expect(behindOf([one, other])).toEqual([]);
	});

	it("are named up to four", () => {
		const steps: Steps = [[99, 0], ...Array(6).fill([9, 60])];
		const words = behindInWords(behindOf(nodes(steps)));
		expect(words).toHaveLength(5);
		expect(words.at(-1)).toBe("2 more ranks without steps, while others go on");
	});
});
