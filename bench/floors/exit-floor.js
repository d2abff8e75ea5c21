import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const WATCHER = fileURLToPath(new URL("watcher.js", import.meta.url));

/**
 * A process that watches a directory is killed → its parent hears of it: in
 * milliseconds. The kernel takes its time over the end of a watch.
 * @type {import("../figures.js").Beside}
 */
export const watcherEnds = {
	name: "the end of a process with fs.watch",
	async measure({ scratch }) {
		const directory = mkdtempSync(join(scratch, "watched-"));
		const child = spawn(process.execPath, [WATCHER, directory, "1"], {
			stdio: ["ignore", "pipe", "inherit"],
		});
		await once(child.stdout, "data");
		const ended = once(child, "exit");
		const start = performance.now();
		child.kill("SIGKILL");
		await ended;
		return performance.now() - start;
	},
};
