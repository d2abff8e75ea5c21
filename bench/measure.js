import { judge, summary } from "./judge.js";

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
	const { name, title, unit, goal } = figure;
	const most = place.isSmoke ? 1 : place.isQuick ? 2 : figure.rounds;
	const rounds = Math.min(most, figure.rounds);
	const taking = takingPart(figure, launchers, place);
	/** @type {Map<string, number[]>} */
	const samples = new Map(taking.map((one) => [one.name, []]));
	tell(`${name}: preparing`);
	const startedAt = performance.now();
	const session = await figure.open?.(place);
	const measureOf = (one) =>
		one.measure?.(place, session) ?? (session ?? figure).measure?.(one, place);
	try {
		// One more round first, which does not count, warms the machine's caches.
		for (let round = rounds > 2 ? 0 : 1; round <= rounds; round += 1) {
			for (const one of taking) {
				tell(`${name}: round ${round} of ${rounds}, ${one.name}`);
				const values = [await measureOf(one)].flat();
				if (round > 0) samples.get(one.name)?.push(...values);
			}
		}
		const results = [...samples].map(([launcher, values]) =>
			summary(launcher, values),
		);
		const notes = session?.notes?.() ?? [];
		const seconds = (performance.now() - startedAt) / 1_000;
		const about = { name, title, unit, rounds, goal, seconds, notes };
		return { ...about, ...judge(figure, results) };
	} finally {
		await session?.close();
	}
}

/** @param {import("./figures.js").Figure} figure */
function takingPart({ beside, peers }, launchers, { isSmoke }) {
	const besides = (beside ?? []).filter(
		({ name }) => !(isSmoke && tried.has(name)),
	);
	for (const { name } of besides) tried.add(name);
	const isPeer = ({ name }) =>
		!isSmoke && (peers === undefined || peers.includes(name));
	const [own, ...others] = launchers;
	return [own, ...others.filter(isPeer), ...besides];
}
