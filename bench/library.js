import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CLI } from "./launchers.js";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

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
		goal: { atMost: 0.15, times: ["a start of Node"] },
		beside: [{ name: "a start of Node", measure: startOfNode }],
		measure: () => importOf("../../dist/src/runtime/runtime.js"),
	},
	{
		name: "worker-info",
		title: "a call of getWorkerInfo() where nothing has changed",
		unit: "µs",
		rounds: 5,
		peers: [],
		goal: { atMost: 2, times: ["a stat of the file"] },
		beside: [
			{
				name: "a stat of the file",
				measure: (place) => inWorker(place, "worker-info.js", "stat"),
			},
		],
		measure: (_, place) => inWorker(place, "worker-info.js", "library"),
	},
];

function startOfNode() {
	const start = performance.now();
	run(here("library/empty.js"));
	return performance.now() - start;
}

async function importOf(file) {
	return Number(run(here("library/import.js"), file));
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
