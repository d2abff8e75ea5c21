// What samples mean: pure, for tables in test/unit/bench.

/** The median of samples, and how far they spread. */
export function summary(launcher, samples) {
	const sorted = [...samples].sort((left, right) => left - right);
	const median = medianOf(sorted);
	return { launcher, median, min: sorted[0], max: sorted.at(-1), samples };
}

/** @param {readonly number[]} samples */
export function medianOf(samples) {
	const sorted = [...samples].sort((left, right) => left - right);
	const middle = sorted.length / 2;
	return (sorted[Math.ceil(middle) - 1] + sorted[Math.floor(middle)]) / 2;
}

/**
 * The median of the means of all pairs of ratios: chance moves it less than their median, and outliers hardly.
 * @param {readonly number[]} ratios
 */
export function typicalOf(ratios) {
	return medianOf(
		ratios.flatMap((ratio, index) =>
			ratios.slice(index).map((other) => Math.sqrt(ratio * other)),
		),
	);
}

/**
 * A figure is judged by its ratio to the sum of what its goal names, measured in the same run: times alone would say
 * more of the machine. Null where one of them was not measured.
 * @param {Pick<import("./figures.js").Figure, "goal">} figure
 * @param {readonly ReturnType<typeof summary>[]} results elastic-run's first
 */
export function judge({ goal }, results) {
	const own = results[0].median;
	const base = goal.times
		.map((name) => results.find(({ launcher }) => launcher === name))
		.reduce((sum, found) => sum + (found?.median ?? Number.NaN), 0);
	const { atMost = Number.POSITIVE_INFINITY, atLeast = 0 } = goal;
	return {
		ratio: timesOf(own, base),
		isMet: Number.isNaN(base)
			? null
			: own <= atMost * base && own >= atLeast * base,
		results: results.map((result, index) => ({
			...result,
			ratio: index === 0 ? null : timesOf(own, result.median),
		})),
	};
}

/** What is nothing at all has no multiples. */
function timesOf(own, base) {
	return base > 0 ? own / base : null;
}
