import { describe, expect, it } from "vitest";
import { failed } from "../../../src/http/page/connection.js";
import { healthOf, stragglerOf } from "../../../src/http/page/health.js";
import type { Series } from "../../../src/http/page/model.js";
import { addPoint, NO_SERIES } from "../../../src/http/page/series.js";
import {
	NOTHING_SPENT,
	type Spent,
} from "../../../src/status/goodput/categories.js";
import type {
	RunDocument,
	WorkerStatus,
} from "../../../src/status/run-document.js";
import { stepsInWords } from "../../../src/status/words.js";
import { pageModel, statusDocument } from "../../helpers/page-model.js";
import {
	findAll,
	part,
	shownPage,
	type Tree,
	textOf,
} from "../../helpers/page-tree.js";
import { NOW, nodeStatus, runStatus } from "../../helpers/run-status.js";

const steps = (change: Partial<WorkerStatus> = {}): WorkerStatus => ({
	...{ localRank: 0, rank: 0, step: 1_234, stepRate: 2.5 },
	...{ secondsSinceStep: 0.2, stepSource: "hook", metrics: {}, start: "cold" },
	...change,
});
const nodesOf = (...workers: readonly WorkerStatus[]) => [
	nodeStatus("node-a", { workers }),
];
const healthIn = (tree: Tree) =>
	findAll(tree, ({ attributes }) =>
		String(attributes.class).startsWith("health "),
	).map(textOf);

const WAITING = {
	...{ words: "waiting for 1 more node", since: NOW, until: null },
	...{ needed: 1, missing: [] },
};
const SUSPECT = {
	...{ rank: 2, node: "node-b", where: "train.py:41 in load_batch" },
	why: "it has not entered gloo:all_reduce",
};
const HANG = { kind: "hung", since: NOW, suspect: SUSPECT } as const;
const STRAGGLER = {
	...{ rank: 2, node: "node-b", lostSecondsPerStep: 0.031 },
	...{ lostSeconds: 12.4, since: NOW },
};

describe("the first sentence", () => {
	it.each<[Partial<RunDocument>, readonly string[]]>([
		[
			{ nodes: nodesOf(steps({ step: 1_300 }), steps()) },
			["good: Making optimizer steps: 1,234 (2.5 a second)"],
		],
		[
			{ nodes: nodesOf(steps({ secondsSinceStep: 199 })) },
			[
				"busy: No step for 3 min 20 s, the last was 1,234; usual are 2.5 a second",
			],
		],
		[
			{
				nodes: nodesOf(
					steps({
						secondsSinceStep: 199,
						stepRate: 0.01,
						stepSource: "report",
					}),
				),
			},
			["good: Making steps: 1,234 (0.6 a minute)"],
		],
		[
			{ nodes: nodesOf(steps({ secondsSinceStep: 199 })), hang: HANG },
			[
				"bad: No step for 3 min 20 s: rank 2 on node-b: it has not entered gloo:all_reduce, at train.py:41 in load_batch",
			],
		],
		[
			{
				nodes: nodesOf(steps({ secondsSinceStep: 99 })),
				hang: { ...HANG, suspect: null },
			},
			["bad: No step for 1 min 40 s: nothing points to one rank"],
		],
		[
			{ nodes: nodesOf(steps()), straggler: STRAGGLER },
			[
				"good: Making optimizer steps: 1,234 (2.5 a second)",
				"busy: Each step waits for rank 2 on node-b: 31 ms, 12.4 s in all",
			],
		],
		[
			{
				nodes: nodesOf(steps({ step: 10 }), steps()),
				behind: [{ rank: 1, node: "node-a", seconds: 661, steps: 3_300 }],
			},
			["bad: Rank 1 on node-a: no step for 11 min 2 s, 3,300 behind"],
		],
		[
			{ phase: "waiting", waiting: WAITING },
			["busy: No steps: the run waits for 1 more node"],
		],
		[
			{ phase: "forming", round: 0 },
			["busy: No steps: round 1 is being formed"],
		],
	])("A4 of %j is %j", (change, sentences) => {
		const run = runStatus(change);
		const said = [healthOf(run, 1_000), stragglerOf(run)]
			.filter((health) => health !== null)
			.map(([standing, sentence]) => `${standing}: ${sentence}`);
		expect(said).toEqual(sentences);
	});

	it("is on the page, but not where the agent no longer answers", () => {
		const document = statusDocument({}, { nodes: nodesOf(steps()) });
		const model = pageModel({ document });
		expect(healthIn(shownPage(model))).toEqual([
			"Making optimizer steps: 1,234 (2.5 a second)",
		]);
		const connection = failed(model.connection, "Failed to fetch", NOW);
		expect(healthIn(shownPage({ ...model, connection }))).toEqual([]);
	});
});

describe("the line of a number", () => {
	const report = (step: number, metrics: WorkerStatus["metrics"]) =>
		runStatus({ nodes: nodesOf(steps({ step, metrics })) });
	const made = (count: number, everyMs = 1_000): Series => {
		let series = NO_SERIES;
		for (let step = 1; step <= count; step++) {
			const run = report(step, { accuracy: 1, loss: 8 / step });
			series = addPoint(series, run, NOW + step * everyMs);
		}
		return series;
	};

	it("is of the loss, or else of the first number", () => {
		expect(made(3)).toMatchObject({
			name: "loss",
			points: [{ step: 1, value: 8 }, { value: 4 }, { value: 8 / 3 }],
		});
		expect(addPoint(NO_SERIES, report(1, { speed: 5 }), NOW).name).toBe(
			"speed",
		);
		expect(addPoint(NO_SERIES, report(1, {}), NOW)).toBe(NO_SERIES);
	});

	it("has one point a step, and begins again with another number", () => {
		const series = made(3);
		expect(addPoint(series, report(3, { loss: 1 }), NOW + 9_000)).toEqual(
			series,
		);
		const other = addPoint(series, report(4, { speed: 5 }), NOW + 9_000);
		expect(other).toMatchObject({ name: "speed", points: [{ value: 5 }] });
	});

	it("covers any time with a bounded number of points", () => {
		const { points } = made(5_000);
		expect(points.length).toBeLessThanOrEqual(400);
		expect(points[0]?.step).toBe(1);
		expect(points.at(-1)?.step).toBeGreaterThan(4_980);
	});

	it("is drawn from the first value to the last", () => {
		const section = part(shownPage(pageModel({ series: made(3) })), "series");
		expect(textOf(section)).toMatch(
			/^loss2\.667 at step 3; 2\.667 to 8 since \d\d:\d\d:\d\d$/,
		);
		const [line] = findAll(section, ({ tag }) => tag === "polyline");
		expect(line?.attributes.points).toBe("0.0,0.0 300.0,45.0 600.0,60.0");
		expect(part(shownPage(pageModel()), "series").tag).toBe("nothing");
	});
});

describe("the ledger", () => {
	const drawn = (ledger: Spent | null) =>
		part(
			shownPage(pageModel({ document: statusDocument({ ledger }) })),
			"ledger",
		);

	it("is a bar with a legend", () => {
		const times = { productive: 900, repeated: 60, "waiting-for-nodes": 40 };
		const section = drawn({ ...NOTHING_SPENT, ...times });
		expect(textOf(section)).toBe(
			"Where the time wentlost 1 min 40 s of 16 min 40 s of node time, 10.0 %new steps 15 min 0 s, 90.0 %steps made again 60.0 s, 6.0 %waiting for nodes 40.0 s, 4.0 %",
		);
		const bar = findAll(section, ({ attributes }) => "style" in attributes);
		expect(bar.map(({ attributes }) => attributes.style)).toMatchObject([
			{ flexGrow: 900 },
			{ flexGrow: 60 },
			{ flexGrow: 40 },
		]);
	});

	it("C2 does not call lost what is not known", () => {
		const times = { productive: 384, startup: 31, unknown: 585 };
		expect(textOf(drawn({ ...NOTHING_SPENT, ...times }))).toMatch(
			/^Where the time wentlost 31\.0 s of 16 min 40 s of node time, 3\.1 %; 58\.5 % is not known/,
		);
	});
});

it.each([
	[0.11, 9.5, "1234 (9.5/s)"],
	[1.6, 9.5, "1234 (9.5/s)"],
	[3.8, 9.5, "1234 (9.5/s), 3.8 s ago"],
	[60, 0.02, "1234 (1.2/min)"],
] as const)("C12 says of a step %d s ago at %d a second, of which is told every other second: %s", (secondsSinceStep, stepRate, words) => {
	expect(stepsInWords([steps({ secondsSinceStep, stepRate })])).toBe(words);
});

it("A4 shows of each worker its step, rate and last numbers", () => {
	const worker = steps({ metrics: { loss: 0.123456 } });
	const document = statusDocument({}, { nodes: nodesOf(worker) });
	const workers = part(shownPage(pageModel({ document })), "workers");
	expect(textOf(workers)).toContain("optimizer step 1234 (2.5/s), loss 0.1235");
});
