import type {
	RunStatus,
	WorkerStatus,
} from "../../../rendezvous/describe/run-status.js";

export interface Point {
	/** Milliseconds since 1970. */
	readonly at: number;
	readonly step: number;
	readonly value: number;
}

/** A reported number over the time that the page has been open. */
export interface Series {
	/** The number's name; null before one was reported. */
	readonly name: string | null;
	readonly points: readonly Point[];
	/** Only so many milliseconds after the last one comes another point. */
	readonly everyMs: number;
}

export const NO_SERIES: Series = { name: null, points: [], everyMs: 0 };

/** The number that people look at first. */
const FIRST = "loss";
const MOST_POINTS = 400;
const LEAST_EVERY_MS = 1_000;

/** Adds what the agent tells now; `at` by its clock, in milliseconds since 1970. */
export function addPoint(series: Series, run: RunStatus, at: number): Series {
	const found = reported(run);
	if (found === undefined) return series;
	const { name, ...point } = found;
	const before = name === series.name ? series : { ...NO_SERIES, name };
	const last = before.points.at(-1);
	const isNews =
		last === undefined ||
		(last.step !== point.step && at - last.at >= before.everyMs);
	if (!isNews) return before;
	return thinned({ ...before, points: [...before.points, { at, ...point }] });
}

/** A long time needs no more points than a short one: every second one goes. */
function thinned(series: Series): Series {
	const { points, everyMs } = series;
	if (points.length <= MOST_POINTS) return series;
	return {
		...series,
		points: points.filter((_, index) => index % 2 === 0),
		everyMs: 2 * Math.max(everyMs, LEAST_EVERY_MS),
	};
}

/** The first rank that reports the loss, or else the first that reports any number. */
function reported({ nodes }: RunStatus) {
	const workers = nodes.flatMap((node) => node.workers);
	return ofFirst(workers, FIRST) ?? ofFirst(workers);
}

function ofFirst(workers: readonly WorkerStatus[], wanted?: string) {
	for (const { metrics, step } of workers) {
		const name = wanted ?? Object.keys(metrics)[0];
		const value = name === undefined ? undefined : metrics[name];
		if (name !== undefined && value !== undefined) return { name, step, value };
	}
	return undefined;
}
