import {
	type More,
	type SimulatedRun,
	simulate,
	type TraceLine,
} from "./simulate.js";
import { SITUATIONS, type Situation, situationsOf } from "./situations.js";

const LINES_SHOWN = 30;

interface SeedsResult {
	readonly seeds: number;
	readonly events: number;
	/** How many of the runs came to each situation. */
	readonly situations: ReadonlyMap<Situation, number>;
	/** The first run that broke an invariant. */
	readonly red: SimulatedRun | undefined;
}

interface SeedsOptions {
	/** Only breaks of this invariant count. */
	readonly checker?: string | undefined;
	/** A seed to play before all others: it was red once. */
	readonly first?: number | undefined;
	readonly more?: More | undefined;
	/** Told how many seeds have been played, once in a long while. */
	readonly onProgress?: (seeds: number) => void;
	readonly onRun?: (run: SimulatedRun) => void;
}

const TOLD_EVERY = 1_000;

/** Plays seeds one after another, up to the first that breaks an invariant. */
export async function runSeeds(
	from: number,
	count: number,
	{ checker: only, first, onProgress, onRun, more }: SeedsOptions = {},
): Promise<SeedsResult> {
	let events = 0;
	const situations = new Map<Situation, number>(
		SITUATIONS.map((situation) => [situation, 0]),
	);
	let played = 0;
	for (const seed of seedsOf(from, count, first)) {
		if (played > 0 && played % TOLD_EVERY === 0) onProgress?.(played);
		played += 1;
		const run = await simulate(seed, more);
		onRun?.(run);
		events += run.events;
		for (const situation of situationsOf(run.history)) {
			situations.set(situation, (situations.get(situation) ?? 0) + 1);
		}
		const violations = run.violations.filter(
			({ checker }) => only === undefined || checker === only,
		);
		if (violations.length > 0) {
			const red = { ...run, violations };
			return { seeds: played, events, situations, red };
		}
	}
	return { seeds: played, events, situations, red: undefined };
}

function* seedsOf(from: number, count: number, first: number | undefined) {
	if (first !== undefined) yield first;
	for (let seed = from; seed < from + count; seed++) yield seed;
}

/** What broke, how to play it again, and what led to it. */
export function describeRed({ seed, violations, trace }: SimulatedRun): string {
	const until = violations[0]?.at ?? Number.POSITIVE_INFINITY;
	const lines = trace.filter(({ at }) => at <= until).slice(-LINES_SHOWN);
	const broken = violations.map(
		({ checker, at, what }) => `  ${checker} at ${inSeconds(at)}: ${what}`,
	);
	return [
		`seed ${seed} is red; to play it again: npm run test:sim -- --seed ${seed}`,
		...broken.slice(0, 5),
		`the last ${lines.length} lines before it:`,
		describeTrace(lines),
	].join("\n");
}

export function describeTrace(lines: readonly TraceLine[]): string {
	return lines
		.map(
			({ at, who, what }) =>
				`${inSeconds(at).padStart(9)} ${who.padEnd(9)} ${what}`,
		)
		.join("\n");
}

function inSeconds(milliseconds: number): string {
	return (milliseconds / 1000).toFixed(3);
}
