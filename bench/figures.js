import { setTimeout as sleep } from "node:timers/promises";
import { CALM_FIGURES } from "./calm.js";
import { CLUSTER_FIGURES } from "./cluster.js";
import { HANG_FIGURES } from "./hangs.js";
import { HOOK_FIGURES } from "./hook.js";
import { Job, requireStarts, timeOfRestart } from "./job.js";
import { LEDGER_FIGURES } from "./ledger.js";
import { LIBRARY_FIGURES } from "./library.js";
import { LOAD_FIGURES } from "./load.js";
import { lastOf } from "./marks.js";
import { familyOf, processorShare, residentMegabytes } from "./processes.js";
import { SCALE_FIGURES } from "./scale.js";
import { SOFT_FIGURES } from "./soft.js";
import { TREE_FIGURES } from "./tree.js";
import { VERDICT_FIGURES } from "./verdicts.js";
import { WARM_FIGURES } from "./warm.js";

const BYTES_PER_WORKER = 100e6;
const IDLE_MS = 20_000;
const QUICK_IDLE_MS = 1_000;
/** What is loaded after the first spawn is loaded by then. */
const SETTLE_MS = 3_000;
/** A tail of quiet files looks ever more rarely, down to once in two seconds. */
const COME_TO_REST_MS = 16_000;

/**
 * One thing that is measured.
 *
 * @typedef {object} Figure
 * @property {string} name
 * @property {string} title
 * @property {string} unit
 * @property {number} rounds
 * @property {readonly string[]} [peers] all of them unless given
 * @property {readonly Beside[]} [beside] what else is measured in turn with it: mostly the least that it can take
 * @property {boolean} [needsEtcd]
 * @property {boolean} [needsTorch]
 * @property {boolean} [isApart] it is measured only by its name: it takes long, or says what is right rather than how fast
 * @property {Goal} goal
 * @property {Measure} [measure] this, or `open` where the rounds have something in common
 * @property {(place: Place) => Promise<Session>} [open]
 *
 * @typedef {number | number[] | Promise<number | number[]>} Samples one, or all of a round
 * @typedef {(launcher: import("./launchers.js").Launcher, place: Place) => Samples} Measure
 * @typedef {{ name: string, measure: (place: Place, session?: any) => Samples }} Beside
 *   it gets the session of its figure
 *
 * @typedef {object} Session
 * @property {Measure} measure
 * @property {import("./etcd.js").Etcd} [etcd] its own, which what is measured beside it may use
 * @property {() => string[]} [notes] what else was measured, in words, once all rounds are over
 * @property {() => Promise<void>} close
 *
 * @typedef {{ atMost?: number, atLeast?: number, times: readonly string[] }} Goal
 *   of elastic-run's median, as a multiple of the sum of the medians of peers and of what is measured beside it
 *
 * @typedef {{ worker: string, scratch: string, isQuick: boolean, isSmoke: boolean, isTraced?: boolean, count?: number }} Place
 *   `isQuick`: it waits no longer than it must; `isSmoke`: it is only tried, as small as it can be;
 *   `count`: how often a figure repeats what it does, or for how many minutes, where it says so
 */

/** @type {readonly Figure[]} */
export const FIGURES = [
	coldStart(4, 2.5),
	coldStart(64, 2.5, 3),
	// Of the shorter one five rounds would leave the ratio to chance.
	restart(4, 7, { atMost: 2, times: ["Node by hand"] }),
	restart(64, 3, { atMost: 0.8, times: ["torchrun"] }),
	{
		name: "exit",
		title: "last of 4 workers ends with 0 → launcher ends",
		unit: "ms",
		rounds: 5,
		goal: { atMost: 2, times: ["Node by hand"] },
		async measure(launcher, place) {
			const job = new Job({ launcher, count: 4, mode: "finish" }, place);
			const { marks, endedAt } = await job.end();
			return endedAt - lastOf(marks, "end");
		},
	},
	{
		name: "memory",
		title: "resident memory with 16 workers, all helpers counted",
		unit: "MB",
		rounds: 2,
		peers: ["Node by hand", "torchrun"],
		goal: { atMost: 1.4, times: ["Node by hand"] },
		measure: (launcher, place) =>
			whileWaiting({ launcher, count: 16, mode: "wait" }, place, (pids) =>
				pids.reduce((sum, pid) => sum + residentMegabytes(pid), 0),
			),
	},
	{
		name: "idle",
		title: `idle processor over ${IDLE_MS / 1_000} s with 16 workers, % of a core`,
		unit: "%",
		rounds: 1,
		peers: ["torchrun"],
		goal: { atMost: 0.6, times: ["torchrun"] },
		measure: (launcher, place) =>
			whileWaiting(
				{ launcher, count: 16, mode: "wait" },
				place,
				async (pids) => {
					if (place.isQuick) return processorShare(pids, QUICK_IDLE_MS);
					await sleep(COME_TO_REST_MS - SETTLE_MS);
					return processorShare(pids, IDLE_MS);
				},
			),
	},
	{
		name: "files",
		title: "4 workers × 100 MB of lines to files",
		unit: "MB/s",
		rounds: 2,
		goal: { atLeast: 0.9, times: ["C by hand"] },
		async measure(launcher, place) {
			const job = new Job(
				{ launcher, count: 4, mode: "print", console: "off" },
				place,
			);
			const { marks } = await job.end();
			return rate(4, lastOf(marks, "end") - firstOf(marks, "print"));
		},
	},
	{
		name: "console",
		title: "the same, shown through a pipe as well, every byte verified",
		unit: "MB/s",
		rounds: 1,
		peers: ["torchrun"],
		goal: { atLeast: 15, times: ["torchrun"] },
		async measure(launcher, place) {
			const job = new Job(
				{ launcher, count: 4, mode: "print", console: "on" },
				place,
			);
			const { marks, endedAt, shown } = await job.end();
			requireWhole(shown, 4 * BYTES_PER_WORKER, launcher.name);
			return rate(4, endedAt - firstOf(marks, "print"));
		},
	},
	...LIBRARY_FIGURES,
	...HOOK_FIGURES,
	...LOAD_FIGURES,
	...CLUSTER_FIGURES,
	...SOFT_FIGURES,
	...WARM_FIGURES,
	...SCALE_FIGURES,
	...TREE_FIGURES,
	...HANG_FIGURES,
	...CALM_FIGURES,
	...LEDGER_FIGURES,
	...VERDICT_FIGURES,
];

/** @returns {Figure} */
function coldStart(count, atMost, rounds = 5) {
	return {
		name: `cold-start-${count}`,
		title: `cold start → last of ${count} workers`,
		unit: "ms",
		rounds,
		goal: { atMost, times: ["Node by hand"] },
		async measure(launcher, place) {
			const job = new Job({ launcher, count, mode: "exit" }, place);
			const { marks } = await job.end();
			requireStarts(marks, count);
			return lastOf(marks, "start") - job.startedAt;
		},
	};
}

/** @returns {Figure} */
function restart(count, rounds, goal) {
	return {
		name: `restart-${count}`,
		title: `failure → last of ${count} started again`,
		unit: "ms",
		rounds,
		goal,
		measure: (launcher, place) =>
			timeOfRestart({ launcher, count, mode: "fail-once" }, place),
	};
}

/** What `measure` says of the launcher and its helpers, the workers apart. */
async function whileWaiting(request, place, measure) {
	const job = new Job(request, place);
	try {
		await job.running();
		await sleep(place.isSmoke ? 0 : SETTLE_MS);
		const workers = new Set(job.starts().map(({ pid }) => pid));
		return await measure(familyOf(job.pid).filter((pid) => !workers.has(pid)));
	} finally {
		job.release();
		await job.end();
	}
}

/** `verified` is what the worker says of the shown lines: bytes of good ones, number of others. */
function requireWhole(verified, bytes, name) {
	const [good, others] = verified.trim().split(" ").map(Number);
	if (good !== bytes || others !== 0) {
		throw new Error(
			`${name} showed ${good} of ${bytes} bytes as they were printed, and ${others} other lines`,
		);
	}
}

function rate(workers, ms) {
	return (workers * BYTES_PER_WORKER) / 1e6 / (ms / 1_000);
}

function firstOf(marks, event) {
	return Math.min(
		...marks.filter((mark) => mark.event === event).map(({ at }) => at),
	);
}
