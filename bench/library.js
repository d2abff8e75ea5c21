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
		goal: { atMost: 10 },
		measure: async () => Number(run(here("library/import.js"))),
	},
	{
		name: "worker-info",
		title: "a call of getWorkerInfo() where nothing has changed",
		unit: "µs",
		rounds: 5,
		peers: [],
		goal: { atMost: 10 },
		async measure(_launcher, { scratch }) {
			const directory = mkdtempSync(join(scratch, "library-"));
			const result = join(directory, "result");
			const options = ["--run-id", "bench", "--log-dir", directory];
			run(CLI, ...options, here("library/worker-info.js"), result);
			return Number(readFileSync(result, "utf8"));
		},
	},
];

/** What a script prints. */
function run(...args) {
	const { status, stdout, stderr } = spawnSync(process.execPath, args, {
		encoding: "utf8",
	});
	if (status !== 0)
		throw new Error(`${args[0]} ended with ${status}: ${stderr}`);
	return stdout;
}
