import { describe, expect, it } from "vitest";
import { picture } from "../../../src/http/page/client/picture.js";
import { layOut } from "../../../src/http/page/client/picture-layout.js";
import {
	ticksOf,
	windowOf,
	type Zoom,
} from "../../../src/http/page/client/time-window.js";
import {
	findAll,
	type Tree,
	textOf,
} from "../../../src/http/page/client/tree.js";
import { incident, timeline } from "../../helpers/page-model.js";
import { NOW } from "../../helpers/run-status.js";

const HOUR = 3_600_000;
const hasClass = (name: string) => (tree: Tree) =>
	(tree.attributes.class ?? "").split(" ").includes(name);

it.each<[Zoom, number, number | null, number, number]>([
	["all", 2 * HOUR, null, 2 * HOUR, 0],
	["1h", 2 * HOUR, null, HOUR, 0],
	["5min", 2 * HOUR, null, HOUR / 12, 0],
	["5min", 20_000, null, 20_000, 0],
	["1h", 2 * HOUR, 30_000, HOUR + 30_000, 30_000],
	["all", 0, null, 0, -1_000],
])("shows %s of a run of %i ms that ended %s ms ago", (zoom, age, endedAgo, from, to) => {
	const endedAt = endedAgo === null ? null : NOW - endedAgo;
	const window = windowOf({ from: NOW - age, endedAt }, zoom, NOW);
	expect([NOW - window.from, NOW - window.to]).toEqual([from, to]);
});

it.each<[string, number, number, RegExp]>([
	["seconds", 20_000, 10_000, /^\d\d:\d\d:\d[05]$/],
	["minutes", HOUR, 10 * 60_000, /^\d\d:\d0$/],
	["hours", 20 * HOUR, 3 * HOUR, /^\d\d:00$|^\d\d:30$/],
	["days", 30 * 24 * HOUR, 7 * 24 * HOUR, /^\d+\/\d+$/],
])("has few round times of %s", (_, length, step, label) => {
	const ticks = ticksOf({ from: NOW - length, to: NOW }, 7);
	expect(ticks.length).toBeGreaterThan(1);
	expect(ticks.length).toBeLessThan(9);
	for (const tick of ticks) expect(tick.label).toMatch(label);
	const steps = ticks
		.slice(1)
		.map(({ at }, index) => at - (ticks[index]?.at ?? 0));
	expect(Math.max(...steps)).toBeLessThanOrEqual(step);
});

describe("where things stand", () => {
	it("puts spans on their node's row, by time, and shows the shortest", () => {
		const { rows, left } = layOut(timeline(), "all", NOW, 1_000);
		expect(rows.map(({ nodeId }) => nodeId)).toEqual(["node-a", "node-b"]);
		const [first, second, third] = rows[0]?.bars ?? [];
		expect(first?.x).toBeCloseTo(left);
		expect(second?.width).toBe(1.5);
		expect((third?.x ?? 0) + (third?.width ?? 0)).toBeCloseTo(1_000 - 12);
		expect(third?.width).toBeCloseTo(first?.width ?? 0, -1);
	});

	it("leaves out what was before the window, and cuts what reaches into it", () => {
		const from = NOW - 2 * HOUR;
		const spans = [
			{ phase: "joining", round: 1, from, to: NOW - HOUR },
			{ phase: "running", round: 1, from: NOW - HOUR, to: null },
		] as const;
		const nodes = [{ nodeId: "node-a", spans }];
		const old = incident({ at: from });
		const { rows, left, marks, rounds } = layOut(
			timeline({ from, nodes, incidents: [old] }),
			...(["5min", NOW, 800] as const),
		);
		expect(rows[0]?.bars).toMatchObject([{ phase: "running", x: left }]);
		expect([marks.length, rounds.length]).toEqual([0, 2]);
	});

	it.each([
		[1, 30],
		[24, 22],
		[48, 15],
		[100, 11],
	])("gives each of %i nodes a row of %i pixels", (count, pitch) => {
		const nodes = Array.from({ length: count }, (_, index) => ({
			nodeId: `node-${index}`,
			spans: [],
		}));
		const layout = layOut(timeline({ nodes }), "all", NOW, 1_000);
		expect(layout.pitch).toBe(pitch);
		expect(layout.height).toBeLessThan(60 + count * pitch);
	});

	it("names rounds that have room for it, the newest first", () => {
		const rounds = [0, 100, 60_000].map((after, index) => ({
			...{ round: index + 1, liftedAt: NOW - 60_000 + after, endedAt: null },
			...({ cause: "start", reason: "", worldSize: 1, nodes: 1 } as const),
		}));
		const placed = layOut(timeline({ rounds }), "all", NOW, 1_000).rounds;
		expect(placed.map(({ isNamed }) => isNamed)).toEqual([false, true, true]);
	});

	it("joins marks that would lie upon each other, and puts those of no row above all rows", () => {
		const incidents = [
			incident({ at: NOW - 40_000 }),
			incident({ at: NOW - 39_990, reason: "rank 2 on node-b: exit code 1" }),
			incident({ at: NOW - 39_980, nodes: ["node-a"] }),
			incident({ at: NOW - 10_000, nodes: ["long-gone"] }),
		];
		const layout = layOut(timeline({ incidents }), "all", NOW, 1_000);
		expect(layout.marks.map((mark) => mark.incidents.length)).toEqual([
			2, 1, 1,
		]);
		const first = layout.rows[0]?.y ?? 0;
		expect(layout.marks[2]?.y).toBeLessThan(first);
	});

	it("fits a narrow window", () => {
		const nodes = [{ nodeId: "a-node-with-a-very-long-name-017", spans: [] }];
		const { left, rows } = layOut(timeline({ nodes }), "all", NOW, 360);
		expect(left).toBeLessThan(100);
		expect(rows[0]?.label).toBe("a-nod…e-017");
	});
});

describe("the picture", () => {
	const draw = (focused: string | null, change = {}) => {
		const told = timeline(change);
		return picture(layOut(told, "all", NOW, 1_000), told, focused);
	};

	it("says the same to who sees it, hovers over it, and hears it", () => {
		const tree = draw(null);
		const [mark] = findAll(tree, hasClass("mark"));
		const words =
			/^failure, \d\d:\d\d:\d\d, round 1\nrank 1 on node-b: exit code 5 \(pid 99\)$/;
		expect(mark?.attributes["data-tip"]).toMatch(words);
		expect(mark?.attributes["aria-label"]).toBe(mark?.attributes["data-tip"]);
		expect(mark?.attributes.role).toBe("img");
		const tips = findAll(tree, hasClass("round")).map(
			({ attributes }) => attributes["aria-label"],
		);
		expect(tips[1]).toContain(
			"4 workers on 2 nodes\nbegun because of: rank 1 on node-b",
		);
		const [bar] = findAll(tree, hasClass("bar"));
		expect(bar?.attributes["data-tip"]).toMatch(
			/^node-a: runs, round 1\n.* \(30\.0 s\)$/,
		);
		expect(tree.attributes["aria-label"]).toContain(
			"2 nodes, 2 rounds, 1 end of rounds",
		);
	});

	it.each<[string, string | null, string]>([
		["the last one at first", null, "round 2"],
		["the one that had the focus", "round 1", "round 1"],
		["the last one where that is gone", "mark of old", "round 2"],
	])("has one stop in the order of tabs: %s", (_, focused, expected) => {
		const stops = findAll(
			draw(focused),
			({ attributes }) => attributes["data-stop"] !== undefined,
		);
		const inTabs = stops.filter(
			({ attributes }) => attributes.tabindex === "0",
		);
		expect(stops.map(({ attributes }) => attributes["data-stop"])).toHaveLength(
			3,
		);
		expect(inTabs.map(({ attributes }) => attributes["data-stop"])).toEqual([
			expected,
		]);
	});

	it("draws an interruption above what it interrupts, and numbers what has room", () => {
		const [row] = findAll(draw(null), hasClass("row"));
		const bars = findAll(row ?? draw(null), hasClass("bar"));
		expect(bars.map(({ attributes }) => attributes.class)).toEqual([
			"bar running",
			"bar running",
			"bar stopping",
		]);
		expect(findAll(draw(null), hasClass("inner")).map(textOf)).toContain(
			"round 2",
		);
	});

	it("draws incidents above the lines of rounds, and has them stepped through by time", () => {
		const stops = findAll(
			draw(null),
			({ attributes }) => attributes["data-stop"] !== undefined,
		).map(({ attributes }) => [
			attributes.class?.split(" ")[0],
			attributes["data-order"],
		]);
		expect(stops).toEqual([
			["round", "0"],
			["round", "2"],
			["mark", "1"],
		]);
	});

	it("counts several incidents in one mark, shows the worst, and tells all", () => {
		const incidents = [
			incident({ kind: "scale-up", reason: "node-b came" }),
			incident({ message: "CUDA error", hint: "see dmesg" }),
		];
		const [mark] = findAll(draw(null, { incidents }), hasClass("mark"));
		expect(mark && textOf(mark)).toBe("2");
		expect(mark && findAll(mark, hasClass("failure"))).toHaveLength(1);
		expect(mark?.attributes["data-tip"]).toContain("node-b came");
		expect(mark?.attributes["data-tip"]).toContain("CUDA error\nsee dmesg");
	});
});
