import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const RULES = 100;
const HISTORY = 200;
const NODES = 64;
const FAILURES_A_ROUND = 50;

/**
 * How long the decisions take after a failure.
 * @type {readonly import("./figures.js").Figure[]}
 */
export const VERDICT_TIME_FIGURES = [
	{
		name: "verdict-time",
		title: `failure → verdict on one of ${NODES} nodes, after ${HISTORY} failed rounds, asking ${RULES} rules`,
		unit: "ms",
		rounds: 5,
		peers: [],
		goal: { atMost: 1 },
		async open({ scratch }) {
			const FailingRun = await bundled(scratch);
			return {
				measure() {
					const run = new FailingRun(RULES, NODES);
					for (let round = 0; round < HISTORY; round += 1) run.fail();
					return Array.from({ length: FAILURES_A_ROUND }, () => run.fail());
				},
				async close() {},
			};
		},
	},
];

/**
 * The decisions are inner parts of the launcher, which its bundle does not export.
 * @returns {Promise<typeof import("./verdict-time/verdict.js").FailingRun>}
 */
async function bundled(scratch) {
	const outfile = join(scratch, "verdict.mjs");
	const entry = new URL("verdict-time/verdict.ts", import.meta.url);
	await build({
		entryPoints: [fileURLToPath(entry)],
		...{ bundle: true, platform: "node", format: "esm", outfile },
	});
	const { FailingRun } = await import(pathToFileURL(outfile).href);
	return FailingRun;
}
