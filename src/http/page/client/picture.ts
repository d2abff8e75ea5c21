import { formatCount } from "../../../base/units.js";
import type { Timeline } from "../../timeline.js";
import { PATTERNS } from "./patterns.js";
import { BOTTOM, type Layout, type Row, TOP } from "./picture-layout.js";
import { drawnStops, stopsOf } from "./picture-stops.js";
import { barTip } from "./picture-words.js";
import { h, type Tree } from "./tree.js";

/** A bar this wide shows its round's number. */
const NUMBERED_FROM = 64;
/** In rows this tall. */
const NUMBERED_PITCH = 22;

/**
 * The nodes over time. The keyboard steps through rounds and incidents: one of them is in the tab order.
 * @param focused the key of the mark that last had the focus
 */
export function picture(
	layout: Layout,
	timeline: Timeline,
	focused: string | null,
): Tree {
	const { width, height, window, left } = layout;
	const stops = stopsOf(layout);
	const isThere = stops.some(({ key }) => key === focused);
	return h(
		"svg",
		{
			...{ class: "picture", width, height, role: "group" },
			viewBox: `0 0 ${width} ${height}`,
			"aria-label": summary(timeline),
		},
		PATTERNS,
		// In separate groups: while ticks and rows come and go, the focused element stays.
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
			...drawnStops(stops, isThere ? focused : stops.at(-1)?.key),
		),
	);
}

/** A label at the edge must not be cut off. */
function anchor(x: number, { width, left }: Layout): string {
	if (x > width - 30) return "end";
	return x < left + 20 ? "start" : "middle";
}

function summary({ nodes, rounds, incidents }: Timeline): string {
	const ends = formatCount(incidents.length, "end");
	return `Time line: ${formatCount(nodes.length, "node")}, ${formatCount(rounds.length, "round")}, ${ends} of rounds. Arrow keys step through rounds and their ends.`;
}

function drawRow(row: Row, layout: Layout, now: number): Tree {
	const { left, pitch, bar } = layout;
	const y = row.y + (pitch - bar) / 2;
	// Running phases are drawn first, so that a short interruption lies above.
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
