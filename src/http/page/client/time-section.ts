import type { NodePhase } from "../../spans.js";
import type { Timeline } from "../../timeline.js";
import type { Model } from "./model.js";
import { picture } from "./picture.js";
import { layOut } from "./picture-layout.js";
import { markShape } from "./picture-stops.js";
import { INCIDENT_WORDS, PHASE_WORDS } from "./picture-words.js";
import { section } from "./table.js";
import { ZOOMS } from "./time-window.js";
import { type Child, h, type Tree } from "./tree.js";
import { clockTime } from "./words.js";

/** In the order in which a node passes through them. */
const PHASES: readonly NodePhase[] = [
	...(["joining", "running", "paused", "stopping", "leaving"] as const),
	...(["finished", "spare", "gone"] as const),
];
const KINDS = ["failure", "scale-down", "scale-up"] as const;

/** The time line with zoom, legend and notes about what is missing. */
export function timeSection(timeline: Timeline, model: Model): Tree {
	const { zoom, now, width, mark } = model;
	const layout = layOut(timeline, zoom, now, width);
	return section(
		"timeline",
		"Time line",
		zoomButtons(model),
		h(
			"div",
			{ class: "frame", "data-measure": "width" },
			picture(layout, timeline, mark),
		),
		legend(timeline),
		h("p", { class: "note" }, omissions(timeline, now)),
	);
}

function zoomButtons({ zoom }: Model): Tree {
	return h(
		"div",
		{ class: "zoom", role: "group", "aria-label": "Show the last" },
		ZOOMS.map(([each, words]) =>
			h(
				"button",
				{
					...{ type: "button", "data-action": "zoom", "data-value": each },
					"aria-pressed": each === zoom ? "true" : "false",
				},
				words,
			),
		),
	);
}

/** Only for what is shown: a run whose workers never pause needs no sign for it. */
function legend({ nodes, incidents }: Timeline): Tree {
	const phases = new Set(
		nodes.flatMap(({ spans }) => spans.map(({ phase }) => phase)),
	);
	const kinds = new Set(incidents.map(({ kind }) => kind));
	return h(
		"ul",
		{ class: "legend", "aria-label": "Legend" },
		PHASES.filter((phase) => phases.has(phase)).map((phase) =>
			entry(
				h("rect", {
					...{ class: `bar ${phase}`, x: -10, y: -5, width: 20, height: 10 },
					rx: 2,
				}),
				PHASE_WORDS[phase],
			),
		),
		entry(
			h("g", { class: "round" }, h("line", { x1: 0, x2: 0, y1: -7, y2: 7 })),
			"a round begins",
		),
		KINDS.filter((kind) => kinds.has(kind)).map((kind) =>
			entry(markShape(kind), INCIDENT_WORDS[kind]),
		),
	);
}

function entry(sign: Tree, words: string): Tree {
	return h(
		"li",
		{},
		h(
			"svg",
			{
				...{ class: "sign", width: 22, height: 16, viewBox: "-11 -8 22 16" },
				"aria-hidden": "true",
			},
			sign,
		),
		words,
	);
}

/** The time zone of the times, and what is missing. */
function omissions({ dropped }: Timeline, now: number): readonly Child[] {
	const { nodes, rounds, spansBefore } = dropped;
	const left = [
		...(nodes > 0 ? [`${nodes} nodes that went first`] : []),
		...(rounds > 0 ? [`${rounds} rounds that came first`] : []),
		...(spansBefore === null
			? []
			: [`some of what was before ${clockTime(spansBefore, now)}`]),
	];
	const words = left.length === 0 ? "" : ` Left out: ${left.join(", ")}.`;
	return [`Times are of this browser's time zone.${words}`];
}
