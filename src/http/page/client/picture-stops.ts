import type { TimelineIncident } from "../../timeline.js";
import {
	BOTTOM,
	type Layout,
	type Mark,
	type RoundLine,
	roundWidth,
	TOP,
} from "./picture-layout.js";
import { incidentTip, roundTip } from "./picture-words.js";
import { h, type Tree } from "./tree.js";

/** A round or an incident: the keyboard can focus it. */
export interface Stop {
	readonly x: number;
	readonly key: string;
	/** The pointer hits an incident before the line of the round that it began. */
	readonly layer: 0 | 1;
	readonly draw: (place: Place) => Tree;
}

/** A stop's position among all, by time. */
interface Place {
	readonly key: string;
	readonly order: number;
	readonly tabIndex: number;
}

/** By time. */
export function stopsOf({ rounds, marks, height }: Layout): readonly Stop[] {
	return [
		...rounds.map(
			(line): Stop => ({
				...{ x: line.x, layer: 0, key: `round ${line.round.round}` },
				draw: (place) => drawRound(line, height, place),
			}),
		),
		...marks.map(
			(mark): Stop => ({
				...{ x: mark.x, layer: 1 },
				key: `mark ${mark.incidents[0]?.at} ${mark.y}`,
				draw: (place) => drawMark(mark, place),
			}),
		),
	].sort((one, other) => one.x - other.x);
}

/** @param inTabs the key of the stop that is in the tab order */
export function drawnStops(
	stops: readonly Stop[],
	inTabs: string | null | undefined,
): readonly Tree[] {
	return stops
		.map((stop, order) => ({ ...stop, order }))
		.sort((one, other) => one.layer - other.layer)
		.map(({ key, order, draw }) =>
			draw({ key, order, tabIndex: key === inTabs ? 0 : -1 }),
		);
}

function stopAttributes({ key, order, tabIndex }: Place, tip: string) {
	return {
		...{ "data-key": key, "data-stop": key, "data-order": order },
		"data-tip": tip,
		...{ tabindex: tabIndex, role: "img", "aria-label": tip },
	};
}

function drawRound(
	{ round, x, isNamed }: RoundLine,
	height: number,
	place: Place,
): Tree {
	const width = roundWidth(round.round);
	return h(
		"g",
		{
			class: isNamed ? "round" : "round unnamed",
			...stopAttributes(place, roundTip(round)),
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

/** The shape for one kind, around (0, 0). */
export function markShape(kind: TimelineIncident["kind"]): Tree {
	return h("path", { class: `shape ${kind}`, d: SHAPES[kind] });
}

/** Of overlapping incidents it shows the worst, and their number. */
function drawMark(mark: Mark, place: Place): Tree {
	const { x, y, incidents } = mark;
	const kind = (["failure", "scale-down", "scale-up"] as const).find((each) =>
		incidents.some((incident) => incident.kind === each),
	);
	const tip = incidents.map(incidentTip).join("\n\n");
	return h(
		"g",
		{
			...{ class: "mark", transform: `translate(${x} ${y})` },
			...stopAttributes(place, tip),
		},
		h("circle", { class: "halo", r: 11 }),
		markShape(kind ?? "failure"),
		incidents.length > 1
			? h("text", { class: "count", x: 8, y: -4 }, String(incidents.length))
			: null,
	);
}
