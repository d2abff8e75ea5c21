import { parseArgs } from "node:util";
import { digestsOf, writeKept } from "./kept-seeds.js";
import { describeRed, describeTrace, runSeeds } from "./run-seeds.js";
import { simulate } from "./simulate.js";

/*
 * Plays seeds by hand:
 *   npm run test:sim -- --seeds 100000   the seeds from 1 on
 *   npm run test:sim -- --seed 1234      one seed, with all that happens in it
 *   … --first 371                        this seed before all others
 *   … --checker NAME                     only breaks of that invariant count
 *   … --notices                          machines say that they will go
 *   … --links                            agents have links, and the store is away for long
 *   … --keep                             keeps what they led to, for `npm test` to compare
 *   … --situations                       in how many runs each situation came about
 */
const { values } = parseArgs({
	options: {
		seeds: { type: "string", default: "1000" },
		from: { type: "string", default: "1" },
		first: { type: "string" },
		seed: { type: "string" },
		checker: { type: "string" },
		situations: { type: "boolean", default: false },
		notices: { type: "boolean", default: false },
		links: { type: "boolean", default: false },
		keep: { type: "boolean", default: false },
	},
});

const startedAt = performance.now();
if (values.seed !== undefined) {
	console.log(
		describeTrace((await simulate(Number(values.seed), values)).trace),
	);
}
const from = Number(values.seed ?? values.from);
const count = values.seed === undefined ? Number(values.seeds) : 1;
const digests = new Map<number, string>();
const { seeds, events, situations, red } = await runSeeds(from, count, {
	checker: values.checker,
	more: values,
	first: values.first === undefined ? undefined : Number(values.first),
	onRun: (run) => {
		if (values.keep) digests.set(run.seed, digestsOf(run));
	},
	onProgress: (played) => console.log(`${played} seeds, all green so far`),
});
if (values.keep) writeKept(digests);
if (red !== undefined) console.log(describeRed(red));
if (values.situations) {
	for (const [situation, count] of situations) {
		console.log(`${String(count).padStart(7)} ${situation}`);
	}
}
const seconds = (performance.now() - startedAt) / 1000;
console.log(
	`${seeds} seeds from ${from}, ${events} events, ${seconds.toFixed(1)} s, ${Math.round(seeds / seconds)} seeds a second: ${red === undefined ? "all green" : "red"}`,
);
process.exitCode = red === undefined ? 0 : 1;
