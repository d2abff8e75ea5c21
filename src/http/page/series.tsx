import type { RunDocument, WorkerStatus } from "../../status/index.js";
import { formatStep } from "./health.js";
import type { Point, SectionProps, Series } from "./model.js";
import { Section } from "./parts.js";
import { clockTime, plain } from "./words.js";

export const NO_SERIES: Series = { name: null, points: [] };

/** The number that people look at first. */
const FIRST = "loss";
const MOST_POINTS = 400;

/** Adds what the agent reports now; `at` by its clock, in milliseconds since 1970. */
export function addPoint(series: Series, run: RunDocument, at: number): Series {
	const found = reported(run);
	if (found === undefined) return series;
	const { name, step, value } = found;
	const before = name === series.name ? series.points : [];
	if (before.at(-1)?.step === step) return series;
	const points = [...before, { at, step, value }];
	// A long time needs no more points than a short one: every second one goes.
	const isKept = (_: Point, index: number) =>
		points.length <= MOST_POINTS || index % 2 === 0;
	return { name, points: points.filter(isKept) };
}

/** The first rank that reports the loss, or else the first that reports any number. */
function reported({ nodes }: RunDocument) {
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

const WIDTH = 600;
const HEIGHT = 60;

/** The line of a reported number; nothing before one was reported. */
export function SeriesLine({ model }: SectionProps) {
	const { name, points } = model.series;
	const [first, last] = [points[0], points.at(-1)];
	if (name === null || first === undefined || last === undefined) return null;
	const values = points.map(({ value }) => value);
	const [least, most] = [Math.min(...values), Math.max(...values)];
	const range = `${short(least)} to ${short(most)}`;
	const note = `${short(last.value)} at step ${formatStep(last.step)}; ${range} since ${clockTime(first.at, model.now)}`;
	const places = points.map(({ at, value }) => {
		const x = ((at - first.at) / (last.at - first.at || 1)) * WIDTH;
		const y = HEIGHT - ((value - least) / (most - least || 1)) * HEIGHT;
		return `${x.toFixed(1)},${y.toFixed(1)}`;
	});
	return (
		<Section id="series" title={plain(name)} note={note}>
			{points.length < 2 ? (
				<small>The line begins with the second value.</small>
			) : (
				<svg
					class="series"
					role="img"
					aria-label={`${plain(name)}: ${note}`}
					viewBox={`0 -2 ${WIDTH} ${HEIGHT + 4}`}
					preserveAspectRatio="none"
				>
					<polyline points={places.join(" ")} />
				</svg>
			)}
		</Section>
	);
}

function short(value: number): string {
	return String(Number(value.toPrecision(4)));
}
