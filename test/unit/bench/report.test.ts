import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { judge, summary } from "../../../bench/judge.js";
import { pageWith, readmeWith, tableOf } from "../../../bench/report.js";

const HEAD = {
	machine: {
		...{ cpu: "EPYC", cores: 2, memoryGiB: 8, kernel: "6.18" },
		loadAverage: 0.4,
	},
	versions: { node: "20.20.2", torch: null, etcd: "3.4.23" },
	day: "2026-11-28",
	isQuick: false,
};
const EMPTY =
	"before\n<!-- results: npm run bench -- --write -->\n<!-- end -->\nafter\n";
const NAMES = ["exit", "restart-4", "cluster-restart"];

function figure(name: string, medians: Readonly<Record<string, number>>) {
	const goal = { atMost: 2, times: ["Node by hand"] };
	const all = Object.entries(medians).map(([who, median]) =>
		summary(who, [median]),
	);
	const about = { name, title: "a → b", unit: "ms", goal, notes: [] };
	return { ...about, ...judge({ goal }, all) };
}

const restart = (own: number) =>
	figure("restart-4", {
		"elastic-run": own,
		"Node by hand": 31,
		torchrun: 272,
	});
const write = (page: string, ...figures: readonly object[]) =>
	pageWith(page, HEAD, figures, NAMES);
const rows = (page: string) =>
	page.split("\n").filter((line) => line.startsWith("| `"));

describe("the page of results", () => {
	it("shows the machine, the versions, and each figure with its goal, ratio, others, day and load", () => {
		expect(write(EMPTY, restart(80))).toBe(`before
<!-- results: npm run bench -- --write -->
EPYC, 2 cores, 8 GiB, Linux 6.18; Node 20.20.2, torch none, etcd 3.4.23.

| figure | goal | ratio | elastic-run | others: median, elastic-run's multiple of it | on, load before |
|---|---|---|---|---|---|
| \`restart-4\` a → b | ≤ 2 × Node by hand | **2.58 ×** | 80 ms | Node by hand 31 (2.58 ×); torchrun 272 (0.294 ×) | 2026-11-28, 0.4 |
<!-- end -->
after
`);
	});

	it("keeps the rows of what was not measured now, in the order of the figures", () => {
		const first = write(EMPTY, restart(80));
		const both = write(first, figure("exit", { "elastic-run": 70 }));
		expect(rows(both)).toEqual([
			"| `exit` a → b | ≤ 2 × Node by hand | unknown | 70 ms |  | 2026-11-28, 0.4 |",
			...rows(first),
		]);
		expect(rows(write(both, restart(60)))[1]).toContain("| 1.94 × | 60 ms |");
	});

	it("forgets figures of another machine, and those that there are no more", () => {
		const page = write(EMPTY, restart(80));
		const machine = { ...HEAD.machine, cores: 64 };
		const other = pageWith(page, { ...HEAD, machine }, [], NAMES);
		expect(rows(other)).toEqual([]);
		expect(rows(pageWith(page, HEAD, [], ["exit"]))).toEqual([]);
	});

	it("says which were measured in two rounds only", () => {
		const quick = pageWith(
			EMPTY,
			{ ...HEAD, isQuick: true },
			[restart(80)],
			NAMES,
		);
		expect(rows(quick)[0]).toContain("| 2026-11-28, 0.4, quick |");
	});

	it("must have a place for results", () => {
		expect(() => write("nothing")).toThrow('no "<!-- results');
	});
});

it("the first page says what the page of results does", () => {
	const readme = "in 1 % of torchrun's time on one node, and in 2 % on two.";
	const cluster = figure("cluster-restart", {
		...{ "elastic-run": 184, torchrun: 1_690 },
	});
	const page = write(EMPTY, restart(80), cluster);
	expect(readmeWith(readme, page)).toBe(
		"in 29 % of torchrun's time on one node, and in 11 % on two.",
	);
	expect(readmeWith(readme, write(EMPTY, restart(80)))).toBe(readme);
	expect(() => readmeWith("nothing", page)).toThrow("does not say");
});

it("this first page agrees with this page of results", () => {
	const [readme, page] = ["README.md", "bench/README.md"].map((path) =>
		readFileSync(path, "utf8"),
	) as [string, string];
	expect(readmeWith(readme, page)).toBe(readme);
});

it("the table says of each figure whether its goal is met", () => {
	const lines = tableOf([
		restart(80),
		restart(60),
		figure("exit", { "elastic-run": 1 }),
	]).split("\n");
	const verdicts = lines.map((line) => line.split("|").at(-2)?.trim());
	expect(verdicts.filter((words) => words !== "")).toEqual([
		...["met", expect.stringMatching(/^-+$/), "no", "yes", "unknown"],
	]);
});
