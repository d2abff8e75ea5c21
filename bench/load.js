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
const SETTLE_MS = 8_000;
const WATCHED_MS = 15_000;
const QUICK = { settleMs: 1_000, watchedMs: 1_000 };

const ITS_WORKERS = "its workers";

/**
 * What busy workers cost their launcher, beside what they cost themselves.
 * @type {readonly import("./figures.js").Figure[]}
 */
export const LOAD_FIGURES = [
	loadFigure("load-report", "report", 0, 0.06),
	loadFigure("load-output", "hook", LINES_PER_S / WORKERS, 0.2),
];

/** @returns {import("./figures.js").Figure} */
function loadFigure(name, how, lines, atMost) {
	const also = lines > 0 ? `, and print ${LINES_PER_S} lines a second` : "";
	return {
		name,
		title: `processor of a launcher with ${WORKERS} workers that make 100 steps a second each (${how})${also}, % of a core`,
		unit: "%",
		rounds: 1,
		peers: [],
		goal: { atMost, times: [ITS_WORKERS] },
		beside: [{ name: ITS_WORKERS, measure: (_, session) => session.workers }],
		async open(place) {
			const session = {
				workers: Number.NaN,
				async measure() {
					const shares = await sharesOf(how, lines, place);
					session.workers = shares.workers;
					return shares.launcher;
				},
				async close() {},
			};
			return session;
		},
	};
}

async function sharesOf(how, lines, { scratch, isQuick, isSmoke }) {
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
		const watchedMs = isQuick ? QUICK.watchedMs : WATCHED_MS;
		const used = () =>
			[own, [...workers()]].map((pids) =>
				pids.reduce((sum, pid) => sum + processorMs(pid), 0),
			);
		const [before, start] = [used(), performance.now()];
		await sleep(watchedMs);
		const [launcher, theirs] = used().map(
			(ms, index) => ((ms - before[index]) / (performance.now() - start)) * 100,
		);
		return { launcher, workers: theirs };
	} finally {
		child.kill("SIGTERM");
		await ended;
	}
}
