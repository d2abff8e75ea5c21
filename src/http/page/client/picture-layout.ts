import type { NodePhase } from "../../spans.js";
import type { Timeline, TimelineIncident } from "../../timeline.js";
import {
	scaleOf,
	type Tick,
	type TimeWindow,
	ticksOf,
	windowOf,
	type Zoom,
} from "./time-window.js";
import { shortened } from "./words.js";

/** Above the rows: the numbers of the rounds. Below them: the time of day. In pixels. */
export const TOP = 26;
export const BOTTOM = 22;
/** Right of the picture: half of a mark at its edge. */
const RIGHT = 12;
const TICK_EVERY = 92;
/** A phase must be visible however short it was. */
const LEAST_WIDTH = 1.5;
/** Marks of one row this close together are merged. */
const MARK_WIDTH = 14;
const CHARACTER_WIDTH = 6.6;

/** The positions of everything, in pixels. */
export interface Layout {
	readonly width: number;
	readonly height: number;
	readonly window: TimeWindow;
	/** Where the rows begin, right of the nodes' names. */
	readonly left: number;
	/** The distance between rows, and a bar's part of it. */
	readonly pitch: number;
	readonly bar: number;
	readonly rows: readonly Row[];
	readonly ticks: readonly (Tick & { readonly x: number })[];
	readonly rounds: readonly RoundLine[];
	/** By time. */
	readonly marks: readonly Mark[];
}

export interface Row {
	readonly nodeId: string;
	readonly label: string;
	readonly y: number;
	readonly bars: readonly Bar[];
}

export interface Bar {
	readonly phase: NodePhase;
	readonly round: number;
	readonly x: number;
	readonly width: number;
	readonly from: number;
	readonly to: number | null;
}

export interface RoundLine {
	readonly round: Timeline["rounds"][number];
	readonly x: number;
	/** There is room for its number. */
	readonly isNamed: boolean;
}

export interface Mark {
	readonly x: number;
	readonly y: number;
	/** All incidents of one row that would overlap. */
	readonly incidents: readonly TimelineIncident[];
}

/** Fewer nodes get taller rows. */
function pitchOf(count: number): readonly [pitch: number, bar: number] {
	if (count <= 10) return [30, 18];
	if (count <= 24) return [22, 14];
	if (count <= 48) return [15, 10];
	return [11, 8];
}

export function layOut(
	timeline: Timeline,
	zoom: Zoom,
	now: number,
	width: number,
): Layout {
	const window = windowOf(timeline, zoom, now);
	const [pitch, bar] = pitchOf(timeline.nodes.length);
	const most = width < 560 ? 11 : 24;
	const labels = timeline.nodes.map(({ nodeId }) => shortened(nodeId, most));
	const longest = Math.max(4, ...labels.map(({ length }) => length));
	const left = Math.ceil(longest * CHARACTER_WIDTH) + 14;
	const room = Math.max(40, width - left - RIGHT);
	const scale = scaleOf(window, room);
	const xOf = (time: number) => left + scale(time);
	const rows = timeline.nodes.map(({ nodeId, spans }, index): Row => {
		const y = TOP + index * pitch;
		const bars = spans
			.filter(({ from, to }) => from <= window.to && (to ?? now) >= window.from)
			.map((span): Bar => {
				const x = xOf(span.from);
				const to = xOf(span.to ?? window.to);
				return { ...span, x, width: Math.max(LEAST_WIDTH, to - x) };
			});
		return { nodeId, label: labels[index] ?? nodeId, y, bars };
	});
	const isShown = (time: number) => time >= window.from && time <= window.to;
	return {
		...{ width, window, left, pitch, bar, rows },
		height: TOP + rows.length * pitch + BOTTOM,
		ticks: ticksOf(window, room / TICK_EVERY).map((tick) => ({
			...tick,
			x: xOf(tick.at),
		})),
		rounds: placeRounds(
			timeline.rounds.filter(({ liftedAt }) => isShown(liftedAt)),
			xOf,
		),
		marks: placeMarks(
			timeline.incidents.filter(({ at }) => isShown(at)),
			rows,
			xOf,
			pitch,
		),
	};
}

/** The newest rounds get their numbers first. */
function placeRounds(
	rounds: Timeline["rounds"],
	xOf: (time: number) => number,
): readonly RoundLine[] {
	const placed: RoundLine[] = [];
	let free = Number.POSITIVE_INFINITY;
	for (const round of rounds.toReversed()) {
		const x = xOf(round.liftedAt);
		const half = roundWidth(round.round) / 2;
		const isNamed = x + half <= free;
		if (isNamed) free = x - half - 2;
		placed.push({ round, x, isNamed });
	}
	return placed.reverse();
}

/** The width of a round's number, in pixels. */
export function roundWidth(round: number): number {
	return String(round).length * 7 + 10;
}

/** On the row of the first of its nodes that has one, else above all rows. */
function placeMarks(
	incidents: readonly TimelineIncident[],
	rows: readonly Row[],
	xOf: (time: number) => number,
	pitch: number,
): readonly Mark[] {
	const heights = new Map(rows.map(({ nodeId, y }) => [nodeId, y]));
	const last = new Map<number, number>();
	const marks: Mark[] = [];
	for (const incident of incidents) {
		const row = incident.nodes
			.map((nodeId) => heights.get(nodeId))
			.find((y) => y !== undefined);
		const y = (row ?? TOP - pitch) + pitch / 2;
		const x = xOf(incident.at);
		const index = last.get(y);
		const near = index === undefined ? undefined : marks[index];
		if (near !== undefined && index !== undefined && x - near.x < MARK_WIDTH) {
			marks[index] = { ...near, incidents: [...near.incidents, incident] };
			continue;
		}
		last.set(y, marks.length);
		marks.push({ x, y, incidents: [incident] });
	}
	return marks;
}
