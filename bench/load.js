import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startAgent } from "./agents.js";
import { readIfThere } from "./marks.js";
import { familyOf, processorMs } from "./processes.js";

const WORKER = fileURLToPath(new URL("load/worker.js", import.meta.url));
const WORKERS = 16;
const SMOKE_WORKERS = 2;
const LINES_PER_S = 10_000;
const STARTS_WITHIN_MS = 120_000;
/** What begins with a run is over by then. */
const SETTLE_MS = 16_000;
const WATCHED_MS = 30_000;
const QUICK = { settleMs: 1_000, watchedMs: 1_000 };

/**
 * What busy workers cost their launcher.
 * @type {readonly import("./figures.js").Figure[]}
 */
export const LOAD_FIGURES = [
	loadFigure("load-hook", "hook", 0, { atMost: 0.5 }),
	loadFigure("load-report", "report", 0, { atMost: 0.5 }),
	loadFigure("load-output", "hook", LINES_PER_S / WORKERS, { atMost: 5 }),
];

function loadFigure(name, how, lines, goal) {
	const also = lines > 0 ? `, and print ${LINES_PER_S} lines a second` : "";
	return {
		name,
		title: `processor of a launcher with ${WORKERS} workers that make 100 steps a second each (${how})${also}, % of a core`,
		unit: "%",
		rounds: 2,
		peers: [],
		goal,
		measure: (_, place) => shareOf(how, lines, place),
	};
}

async function shareOf(how, lines, { scratch, isQuick, isSmoke }) {
	const count = isSmoke ? SMOKE_WORKERS : WORKERS;
	const directory = mkdtempSync(join(scratch, "load-"));
	const marks = join(directory, "pids");
	const { child, ended } = startAgent([
		...["--nproc-per-node", String(count), "--run-id", "bench-load"],
		...["--log-dir", directory, "--shutdown-timeout", "1"],
		...[WORKER, marks, how, String(lines)],
	]);
	try {
		const workers = () =>
			new Set(readIfThere(marks).trim().split("\n").map(Number));
		const until = performance.now() + STARTS_WITHIN_MS;
		while (workers().size < count) {
			if (child.exitCode !== null || performance.now() > until) {
				throw new Error("its workers did not start");
			}
			await sleep(50);
		}
		if (!isSmoke) await sleep(isQuick ? QUICK.settleMs : SETTLE_MS);
		const own = familyOf(child.pid).filter((pid) => !workers().has(pid));
		return await processorShare(own, isQuick ? QUICK.watchedMs : WATCHED_MS);
	} finally {
		child.kill("SIGTERM");
		await ended;
	}
}

async function processorShare(pids, durationMs) {
	const used = () => pids.map(processorMs).reduce((sum, one) => sum + one, 0);
	const [usedBefore, before] = [used(), performance.now()];
	await sleep(durationMs);
	return ((used() - usedBefore) / (performance.now() - before)) * 100;
}
