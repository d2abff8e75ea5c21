import type { Timeline, TimelineIncident } from "../../timeline.js";
import { PATTERNS } from "./patterns.js";
import {
	BOTTOM,
	type Layout,
	type Mark,
	type RoundLine,
	type Row,
	roundWidth,
	TOP,
} from "./picture-layout.js";
import { barTip, incidentTip, roundTip } from "./picture-words.js";
import { h, type Tree } from "./tree.js";

/** A bar so wide has its round's number in it. */
const NUMBERED_FROM = 64;
/** In rows so tall. */
const NUMBERED_PITCH = 22;

/**
 * Nodes by time. Rounds and incidents can be stepped through by the keyboard:
 * one of them is in the order of tabs.
 * @param focused the key of the mark that had the focus last
 */
export function picture(
	layout: Layout,
	timeline: Timeline,
	focused: string | null,
): Tree {
	const { width, height, window, left } = layout;
	const stops = stopsOf(layout);
	const isFocused = stops.some(({ key }) => key === focused);
	const inTabs = isFocused ? focused : stops.at(-1)?.key;
	return h(
		"svg",
		{
			...{ class: "picture", width, height, role: "group" },
			viewBox: `0 0 ${width} ${height}`,
			"aria-label": summary(timeline),
		},
		PATTERNS,
		// In groups of their own: as ticks and rows come and go, what has the focus stays where it is.
		h(
			"g",
			{ class: "ticks" },
			...layout.ticks.map(({ x, label }) =>
				h(
					"g",
					{ class: "tick" },
					h("line", { x1: x, x2: x, y1: TOP, y2: height - BOTTOM }),
					h(
						"text",
						{ x, y: height - 7, "text-anchor": anchor(x, layout) },
						label,
					),
				),
			),
		),
		h(
			"g",
			{ class: "rows" },
			...layout.rows.map((row) => drawRow(row, layout, window.to)),
		),
		h("line", {
			...{ class: "edge", x1: left, x2: width },
			...{ y1: height - BOTTOM + 0.5, y2: height - BOTTOM + 0.5 },
		}),
		h(
			"g",
			{ class: "stops" },
			...stops.map(({ key, draw }) => draw(key, key === inTabs ? 0 : -1)),
		),
	);
}

/** A label at the edge is not cut off. */
function anchor(x: number, { width, left }: Layout): string {
	if (x > width - 30) return "end";
	return x < left + 20 ? "start" : "middle";
}

function summary({ nodes, rounds, incidents }: Timeline): string {
	return `Time line: ${nodes.length} nodes, ${rounds.length} rounds, ${incidents.length} incidents. Arrow keys step through rounds and incidents.`;
}

function drawRow(row: Row, layout: Layout, now: number): Tree {
	const { left, pitch, bar } = layout;
	const y = row.y + (pitch - bar) / 2;
	// What runs is drawn first: a short interruption of it lies above.
	const bars = [...row.bars].sort(
		(one, other) =>
			Number(other.phase === "running") - Number(one.phase === "running"),
	);
	return h(
		"g",
		{ class: "row", "data-key": `row ${row.nodeId}` },
		h(
			"text",
			{
				...{ x: left - 8, y: row.y + pitch / 2, "text-anchor": "end" },
				...{ class: pitch < 14 ? "name small" : "name" },
				"data-tip": row.nodeId,
			},
			row.label,
		),
		...bars.flatMap((span) => {
			const { x, width, phase, round } = span;
			const isNumbered =
				phase === "running" &&
				width >= NUMBERED_FROM &&
				pitch >= NUMBERED_PITCH;
			return [
				h("rect", {
					...{ class: `bar ${phase}`, x, y, width, height: bar },
					...{ rx: Math.min(2, width / 2) },
					"data-tip": barTip(row.nodeId, span, now),
				}),
				isNumbered
					? h(
							"text",
							{ class: "inner", x: x + 7, y: row.y + pitch / 2 },
							`round ${round}`,
						)
					: null,
			];
		}),
	);
}

/** What the keyboard stops at, by time. */
interface Stop {
	readonly x: number;
	readonly key: string;
	readonly draw: (key: string, tabIndex: number) => Tree;
}

function stopsOf({ rounds, marks, height }: Layout): readonly Stop[] {
	return [
		...rounds.map((line) => ({
			x: line.x,
			key: `round ${line.round.round}`,
			draw: (key: string, tabIndex: number) =>
				drawRound(line, height, key, tabIndex),
		})),
		...marks.map((mark) => ({
			x: mark.x,
			key: `mark ${mark.incidents[0]?.at} ${mark.y}`,
			draw: (key: string, tabIndex: number) => drawMark(mark, key, tabIndex),
		})),
	].sort((one, other) => one.x - other.x);
}

function stopAttributes(key: string, tabIndex: number, tip: string) {
	return {
		...{ "data-key": key, "data-stop": key, "data-tip": tip },
		...{ tabindex: tabIndex, role: "img", "aria-label": tip },
	};
}

function drawRound(
	{ round, x, isNamed }: RoundLine,
	height: number,
	key: string,
	tabIndex: number,
): Tree {
	const width = roundWidth(round.round);
	return h(
		"g",
		{
			class: isNamed ? "round" : "round unnamed",
			...stopAttributes(key, tabIndex, roundTip(round)),
		},
		h("line", { x1: x, x2: x, y1: TOP - 6, y2: height - BOTTOM }),
		isNamed
			? h("rect", {
					...{ class: "chip", x: x - width / 2, y: 3, width, height: 17 },
					rx: 4,
				})
			: h("circle", { class: "dot", cx: x, cy: TOP - 8, r: 2 }),
		isNamed
			? h("text", { x, y: 12, "text-anchor": "middle" }, String(round.round))
			: null,
	);
}

const SHAPES: Readonly<Record<TimelineIncident["kind"], string>> = {
	failure: "M0 -7 L7 6 L-7 6 Z",
	"scale-down": "M0 -7 L7 0 L0 7 L-7 0 Z",
	"scale-up": "M-2 -6 H2 V-2 H6 V2 H2 V6 H-2 V2 H-6 V-2 H-2 Z",
};

/** The mark of one kind, around (0, 0). */
export function markShape(kind: TimelineIncident["kind"]): Tree {
	return h("path", { class: `shape ${kind}`, d: SHAPES[kind] });
}

/** Of several that lie upon each other the worst is shown, and how many there are. */
function drawMark(mark: Mark, key: string, tabIndex: number): Tree {
	const { x, y, incidents } = mark;
	const kind = (["failure", "scale-down", "scale-up"] as const).find((each) =>
		incidents.some((incident) => incident.kind === each),
	);
	const tip = incidents.map(incidentTip).join("\n\n");
	return h(
		"g",
		{
			...{ class: "mark", transform: `translate(${x} ${y})` },
			...stopAttributes(key, tabIndex, tip),
		},
		h("circle", { class: "halo", r: 11 }),
		markShape(kind ?? "failure"),
		incidents.length > 1
			? h("text", { class: "count", x: 8, y: -4 }, String(incidents.length))
			: null,
	);
}
