import { formatStep } from "./health.js";
import { plain } from "./plain.js";
import type { Point, Series } from "./series.js";
import { section } from "./table.js";
import { type Child, h, type Tree } from "./tree.js";
import { clockTime } from "./words.js";

const WIDTH = 600;
const HEIGHT = 60;

/** The line of a reported number; nothing before one was reported. */
export function seriesSection({ name, points }: Series, now: number): Child {
	const [first, last] = [points[0], points.at(-1)];
	if (name === null || first === undefined || last === undefined) return null;
	const values = points.map(({ value }) => value);
	const [least, most] = [Math.min(...values), Math.max(...values)];
	const words = `${number(last.value)} at step ${formatStep(last.step)}; ${number(least)} to ${number(most)} since ${clockTime(first.at, now)}`;
	const title = plain(name);
	return section(
		"series",
		title,
		h("span", { class: "note" }, words),
		points.length < 2
			? h("p", { class: "empty" }, "The line begins with the second value.")
			: line(points, { least, most }, `${title}: ${words}`),
	);
}

function line(
	points: readonly Point[],
	{ least, most }: { readonly least: number; readonly most: number },
	label: string,
): Tree {
	const from = points[0]?.at ?? 0;
	const duration = (points.at(-1)?.at ?? from) - from || 1;
	const range = most - least || 1;
	const places = points.map(({ at, value }) => {
		const x = ((at - from) / duration) * WIDTH;
		const y = HEIGHT - ((value - least) / range) * HEIGHT;
		return `${x.toFixed(1)},${y.toFixed(1)}`;
	});
	return h(
		"svg",
		{
			...{ class: "series", role: "img", "aria-label": label },
			...{ viewBox: `0 -2 ${WIDTH} ${HEIGHT + 4}` },
			preserveAspectRatio: "none",
		},
		h("polyline", { points: places.join(" ") }),
	);
}

function number(value: number): string {
	return String(Number(value.toPrecision(4)));
}
