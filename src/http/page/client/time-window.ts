import type { Timeline } from "../../timeline.js";

export type Zoom = "5min" | "1h" | "all";

export const ZOOMS: readonly (readonly [zoom: Zoom, words: string])[] = [
	["5min", "5 min"],
	["1h", "1 h"],
	["all", "all"],
];

const LENGTHS: Readonly<Record<Zoom, number>> = {
	"5min": 300_000,
	"1h": 3_600_000,
	all: Number.POSITIVE_INFINITY,
};

/** The time span of the picture, in milliseconds since 1970. */
export interface TimeWindow {
	readonly from: number;
	readonly to: number;
}

const SHORTEST_MS = 1_000;

/** Ends now, or with the run; begins no earlier than the run. */
export function windowOf(
	{ from, endedAt }: Pick<Timeline, "from" | "endedAt">,
	zoom: Zoom,
	now: number,
): TimeWindow {
	const to = Math.max(endedAt ?? now, from + SHORTEST_MS);
	return { from: Math.max(from, to - LENGTHS[zoom]), to };
}

/** Maps a time to 0 … `width`; a time outside the window maps to its edge. */
export function scaleOf(
	{ from, to }: TimeWindow,
	width: number,
): (time: number) => number {
	const perMs = width / (to - from);
	return (time) => Math.min(width, Math.max(0, (time - from) * perMs));
}

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

export interface Tick {
	readonly at: number;
	readonly label: string;
}

/** Round times of day in a window, at most this many. */
export function ticksOf(
	{ from, to }: TimeWindow,
	most: number,
): readonly Tick[] {
	const least = (to - from) / Math.max(1, most);
	const step =
		STEPS.find((each) => each >= least) ?? Math.ceil(least / DAY) * DAY;
	// Whole hours and days are those of the reader's time zone.
	const shift = new Date(to).getTimezoneOffset() * MINUTE;
	const first = Math.ceil((from - shift) / step) * step + shift;
	const ticks: Tick[] = [];
	for (let at = first; at <= to; at += step) {
		ticks.push({ at, label: labelOf(at, step) });
	}
	return ticks;
}

function labelOf(at: number, step: number): string {
	const date = new Date(at);
	if (step >= DAY) return `${date.getDate()}/${date.getMonth() + 1}`;
	const parts = [date.getHours(), date.getMinutes()];
	if (step < MINUTE) parts.push(date.getSeconds());
	return parts.map((part) => String(part).padStart(2, "0")).join(":");
}
