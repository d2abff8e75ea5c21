import type { Timeline } from "../../status/index.js";
import { shortened } from "./words.js";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
	...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
	...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
	...[1, 2, 3, 6, 12].map((count) => count * HOUR),
	...[1, 2, 7, 14, 28].map((count) => count * DAY),
];

export type Zoom = "5min" | "1h" | "all";

const LENGTHS: Readonly<Record<Zoom, number>> = {
	"5min": 5 * MINUTE,
	"1h": HOUR,
	all: Number.POSITIVE_INFINITY,
};

/** A time span, in milliseconds since 1970. */
interface TimeWindow {
	readonly from: number;
	readonly to: number;
}

/** Where things are in the picture, in pixels. */
export interface Scale extends TimeWindow {
	/** The nodes' names, which end where the rows begin. */
	readonly names: readonly string[];
	readonly left: number;
	readonly right: number;
	/** The height of a row, and where the last one ends. */
	readonly pitch: number;
	readonly bottom: number;
	/** A time outside the window is at its edge. */
	xOf(time: number): number;
	isShown(time: number): boolean;
}

/** Above the rows: the numbers of the rounds. */
export const TOP = 26;
/** Right of the picture: half of a mark at its edge. */
const RIGHT = 12;
const CHARACTER_WIDTH = 6.6;

export function scaleOf(
	timeline: Timeline,
	zoom: Zoom,
	now: number,
	width: number,
): Scale {
	const { nodes } = timeline;
	const { from, to } = windowOf(timeline, zoom, now);
	const most = width < 560 ? 11 : 24;
	const names = nodes.map(({ nodeId }) => shortened(nodeId, most));
	const longest = Math.max(4, ...names.map(({ length }) => length));
	const left = Math.ceil(longest * CHARACTER_WIDTH) + 14;
	const right = Math.max(left + 40, width - RIGHT);
	const pitch = rowHeight(nodes.length);
	const bottom = TOP + nodes.length * pitch;
	const perMs = (right - left) / (to - from);
	const xOf = (time: number) =>
		Math.min(right, Math.max(left, left + (time - from) * perMs));
	const isShown = (time: number) => time >= from && time <= to;
	return { from, to, names, left, right, pitch, bottom, xOf, isShown };
}

/** Ends now, or with the run; begins no earlier than the run. */
export function windowOf(
	{ from, endedAt }: Pick<Timeline, "from" | "endedAt">,
	zoom: Zoom,
	now: number,
): TimeWindow {
	const to = Math.max(endedAt ?? now, from + SECOND);
	return { from: Math.max(from, to - LENGTHS[zoom]), to };
}

/** Round times of day in a window, at most this many. */
export function ticksOf({ from, to }: TimeWindow, most: number) {
	const least = (to - from) / Math.max(1, most);
	const step =
		STEPS.find((each) => each >= least) ?? Math.ceil(least / DAY) * DAY;
	// Whole hours and days are those of the reader's time zone.
	const shift = new Date(to).getTimezoneOffset() * MINUTE;
	const first = Math.ceil((from - shift) / step) * step + shift;
	const ticks: { readonly at: number; readonly label: string }[] = [];
	for (let at = first; at <= to; at += step) {
		ticks.push({ at, label: tickLabel(at, step) });
	}
	return ticks;
}

function tickLabel(at: number, step: number): string {
	const date = new Date(at);
	if (step >= DAY) return `${date.getDate()}/${date.getMonth() + 1}`;
	const parts = [date.getHours(), date.getMinutes()];
	if (step < MINUTE) parts.push(date.getSeconds());
	return parts.map((part) => String(part).padStart(2, "0")).join(":");
}

/** Fewer nodes get taller rows. */
function rowHeight(count: number): number {
	if (count <= 10) return 30;
	if (count <= 24) return 22;
	return count <= 48 ? 15 : 11;
}

/** The width of a round's number, in pixels. */
export function numberWidth(round: number): number {
	return String(round).length * 7 + 10;
}

/** The rounds that have room for their numbers; the newest get theirs first. */
export function namedRounds(
	rounds: Timeline["rounds"],
	{ xOf }: Pick<Scale, "xOf">,
): ReadonlySet<number> {
	const named = new Set<number>();
	let free = Number.POSITIVE_INFINITY;
	for (const { round, liftedAt } of rounds.toReversed()) {
		const half = numberWidth(round) / 2;
		if (xOf(liftedAt) + half > free) continue;
		named.add(round);
		free = xOf(liftedAt) - half - 2;
	}
	return named;
}
