import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CLI } from "./launchers.js";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/**
 * Some 17 s after the start V8 collects what the start has left, for 25 ms, and not again in ten
 * minutes: that is no part of what idling costs.
 */
const REST_S = 30;
const IDLE_S = 30;
/** The same where it is only tried. */
const QUICK = [1, 1];

/**
 * What the runtime library costs a worker, whatever launches it.
 * @type {readonly import("./figures.js").Figure[]}
 */
export const LIBRARY_FIGURES = [
	{
		name: "runtime-import",
		title: "import of elastic-run/runtime",
		unit: "ms",
		rounds: 9,
		peers: [],
		goal: { atMost: 10 },
		beside: [
			{ name: "an empty module", measure: () => importOf("./empty.js") },
		],
		measure: () => importOf("../../dist/src/runtime/runtime.js"),
	},
	{
		name: "worker-info",
		title: "a call of getWorkerInfo() where nothing has changed",
		unit: "µs",
		rounds: 5,
		peers: [],
		goal: { atMost: 10 },
		beside: [
			{
				name: "a stat of the file",
				measure: (place) => inWorker(place, "worker-info.js", "stat"),
			},
		],
		measure: (_, place) => inWorker(place, "worker-info.js", "library"),
	},
	{
		name: "library-idle",
		title: `processor of an idle worker that listens for events, over ${IDLE_S} s from ${REST_S} s after its start on, % of a core`,
		unit: "%",
		rounds: 3,
		peers: [],
		goal: { atMost: 0.1 },
		beside: [
			{
				name: "without the library",
				measure: (place) => idle(place, "bare"),
			},
		],
		measure: (_, place) => idle(place, "library"),
	},
];

async function importOf(file) {
	return Number(run(here("library/import.js"), file));
}

function idle(place, how) {
	const seconds = place.isQuick ? QUICK : [REST_S, IDLE_S];
	return inWorker(place, "idle.js", how, ...seconds.map(String));
}

/** The number that a program writes to a file, run as a worker. */
async function inWorker({ scratch }, program, ...args) {
	const directory = mkdtempSync(join(scratch, "library-"));
	const result = join(directory, "result");
	const options = ["--run-id", "bench", "--log-dir", directory];
	run(CLI, ...options, here(`library/${program}`), result, ...args);
	return Number(readFileSync(result, "utf8"));
}

/** What a script prints. */
function run(...args) {
	const { status, stdout, stderr } = spawnSync(process.execPath, args, {
		encoding: "utf8",
	});
	if (status !== 0)
		throw new Error(`${args[0]} ended with ${status}: ${stderr}`);
	return stdout;
}
