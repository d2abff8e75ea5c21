import { describe, expect, it } from "vitest";
import {
	namedRounds,
	ticksOf,
	windowOf,
	type Zoom,
} from "../../../src/http/page/scale.js";
import type { Timeline } from "../../../src/status/timeline.js";
import {
	incident,
	pageModel,
	statusDocument,
	timeline,
} from "../../helpers/page-model.js";
import {
	findAll,
	hasClass,
	part,
	shownPage,
	type Tree,
	textOf,
} from "../../helpers/page-tree.js";
import { NOW } from "../../helpers/run-status.js";

const HOUR = 3_600_000;

it.each<[Zoom, number, number | null, number, number]>([
	["all", 2 * HOUR, null, 2 * HOUR, 0],
	["1h", 2 * HOUR, null, HOUR, 0],
	["5min", 2 * HOUR, null, HOUR / 12, 0],
	["1h", 2 * HOUR, 30_000, HOUR + 30_000, 30_000],
])("shows %s of a run of %i ms that ended %s ms ago", (zoom, age, endedAgo, from, to) => {
	const endedAt = endedAgo === null ? null : NOW - endedAgo;
	const window = windowOf({ from: NOW - age, endedAt }, zoom, NOW);
	expect([NOW - window.from, NOW - window.to]).toEqual([from, to]);
});

it.each<[string, number, number, RegExp]>([
	["seconds", 20_000, 10_000, /^\d\d:\d\d:\d[05]$/],
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

it("names rounds that have room for it, the newest first", () => {
	const rounds = [0, 100, 60_000].map((liftedAt, index) => ({
		...{ round: index + 1, liftedAt, endedAt: null },
		...({ cause: "start", reason: "", worldSize: 1, nodes: 1 } as const),
	}));
	const named = namedRounds(rounds, { xOf: (time) => time / 60 });
	expect([...named]).toEqual([3, 2]);
});

describe("the picture", () => {
	const draw = (
		change: Partial<Timeline> = {},
		zoom: Zoom = "all",
		width = 1_000,
	) => {
		const document = statusDocument({ timeline: timeline(change) });
		const tree = shownPage(pageModel({ document, zoom, width }));
		const [picture] = findAll(part(tree, "timeline"), hasClass("picture"));
		if (picture === undefined) throw new Error("there is no picture");
		return picture;
	};
	const barsOf = (picture: Tree) =>
		findAll(picture, hasClass("bar")).map(({ attributes }) => ({
			phase: attributes.class,
			x: Number(attributes.x),
			width: Number(attributes.width),
		}));
	const marksOf = (picture: Tree) =>
		findAll(picture, hasClass("mark")).map(({ attributes, children }) => {
			const [x, y] = String(attributes.transform).match(/[\d.]+/g) ?? [];
			const [shape] = children;
			const fill = typeof shape === "string" ? "" : shape?.attributes.fill;
			return { x: Number(x), y: Number(y), fill };
		});

	it("has bars by time, shows the shortest, and draws it above what it interrupts", () => {
		const bars = barsOf(draw()).slice(0, 3);
		expect(bars.map(({ phase }) => phase)).toEqual([
			"bar running",
			"bar running",
			"bar stopping",
		]);
		const [first, second, interruption] = bars;
		expect(interruption?.width).toBe(1.5);
		expect((second?.x ?? 0) + (second?.width ?? 0)).toBeCloseTo(1_000 - 12);
		expect(second?.width).toBeCloseTo(first?.width ?? 0, -1);
		expect(findAll(draw(), hasClass("inner")).map(textOf)).toContain("round 2");
	});

	it("omits what was before the window, and cuts what reaches into it", () => {
		const from = NOW - 2 * HOUR;
		const spans = [
			{ phase: "joining", round: 1, from, to: NOW - HOUR },
			{ phase: "running", round: 1, from: NOW - HOUR, to: null },
		] as const;
		const nodes = [{ nodeId: "node-a", spans }];
		const incidents = [incident({ at: from })];
		const picture = draw({ from, nodes, incidents }, "5min");
		expect(barsOf(picture)).toMatchObject([{ phase: "bar running" }]);
		expect(barsOf(picture)[0]?.width).toBeGreaterThan(900);
		expect(marksOf(picture)).toEqual([]);
		expect(findAll(picture, hasClass("round"))).toHaveLength(2);
	});

	it("marks incidents on the row of their node, those of no row above all rows, and the worst last", () => {
		const incidents = [
			incident({ at: NOW - 30_000 }),
			incident({ at: NOW - 10_000, kind: "scale-down", nodes: ["long-gone"] }),
			incident({ at: NOW, kind: "scale-up", nodes: ["node-a"] }),
		];
		const marks = marksOf(draw({ incidents }));
		expect(marks.map(({ fill, y }) => [fill, y])).toEqual([
			["var(--scale-up)", 26 + 15],
			["var(--scale-down)", 26 - 15],
			["var(--failure)", 26 + 45],
		]);
		const [came, , failure] = marks;
		expect(failure?.x).toBeLessThan(came?.x ?? 0);
	});

	it("fits a narrow window", () => {
		const nodes = [{ nodeId: "a-node-with-a-very-long-name-017", spans: [] }];
		const picture = draw({ nodes }, "all", 360);
		const [name] = findAll(picture, hasClass("name"));
		expect(name && textOf(name)).toBe("a-nod…e-017");
		expect(name?.attributes.x).toBeLessThan(100);
	});
});
