/** What a smoke run has tried beside a figure: once is enough. @type {Set<string>} */
const tried = new Set();

/**
 * The figure's launchers in turn, round after round, so that a drift of the machine hits all alike.
 * A smoke run has elastic-run only, and what is measured beside it.
 * @param {import("./figures.js").Figure} figure
 * @param {readonly import("./launchers.js").Launcher[]} launchers
 * @param {import("./figures.js").Place} place
 * @param {(words: string) => void} tell
 */
export async function measureFigure(figure, launchers, place, tell) {
	const most = place.isSmoke ? 1 : place.isQuick ? 2 : figure.rounds;
	const rounds = Math.min(most, figure.rounds);
	const beside = (figure.beside ?? []).filter(
		({ name }) => !(place.isSmoke && tried.has(name)),
	);
	for (const { name } of beside) tried.add(name);
	const taking = [
		...launchers.filter(
			({ name }, index) =>
				index === 0 ||
				(!place.isSmoke && (figure.peers ?? [name]).includes(name)),
		),
		...beside,
	];
	/** @type {Map<string, number[]>} */
	const samples = new Map(taking.map(({ name }) => [name, []]));
	tell(`${figure.name}: preparing`);
	const session = await figure.open?.(place);
	const measureOf = (one) =>
		one.measure?.(place, session) ?? (session ?? figure).measure?.(one, place);
	try {
		// One more round first, which does not count, warms the machine's caches.
		for (let round = rounds > 2 ? 0 : 1; round <= rounds; round += 1) {
			for (const launcher of taking) {
				tell(`${figure.name}: round ${round} of ${rounds}, ${launcher.name}`);
				const values = [await measureOf(launcher)].flat();
				if (round > 0) samples.get(launcher.name)?.push(...values);
			}
		}
		const results = [...samples].map(([launcher, values]) =>
			summary(launcher, values),
		);
		const notes = session?.notes?.() ?? [];
		return { ...judge(figure, rounds, results), notes };
	} finally {
		await session?.close();
	}
}

function summary(launcher, samples) {
	const sorted = [...samples].sort((left, right) => left - right);
	const middle = sorted.length / 2;
	const median =
		(sorted[Math.ceil(middle) - 1] + sorted[Math.floor(middle)]) / 2;
	// The least of which 95 % of the samples are no larger.
	const p95 = sorted[Math.ceil(0.95 * sorted.length) - 1];
	return { launcher, median, min: sorted[0], max: sorted.at(-1), p95, samples };
}

/**
 * Ratios go to the peer that the goal names, else to what is measured beside it, else to Node by hand.
 * @param {import("./figures.js").Figure} figure
 */
function judge({ name, title, unit, goal, beside }, rounds, results) {
	const medianOf = (launcher) =>
		results.find((result) => result.launcher === launcher)?.median;
	const reference = goal.timesPeer ?? beside?.[0]?.name ?? "Node by hand";
	// What is nothing at all has no multiples.
	const base = medianOf(reference) || undefined;
	const own = results[0].median;
	const judged =
		goal.timesPeer === undefined ? own : own / (base ?? Number.NaN);
	const { atMost = Number.POSITIVE_INFINITY, atLeast = 0 } = goal;
	const { p95AtMost = Number.POSITIVE_INFINITY } = goal;
	const isMet =
		judged <= atMost && judged >= atLeast && results[0].p95 <= p95AtMost;
	return {
		name,
		title,
		unit,
		rounds,
		reference: base === undefined ? null : reference,
		goal,
		isMet: Number.isNaN(judged) || isGoalless(goal) ? null : isMet,
		results: results.map((result) => ({
			...result,
			ratio: base === undefined ? null : result.median / base,
		})),
	};
}

function isGoalless(goal) {
	return Object.keys(goal).length === 0;
}
