import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { ClusterJob } from "../cluster/cluster-job.js";
import { Etcd } from "../etcd.js";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Two agents with so many workers each. */
const WORKERS = 2;
/** How far the example has come when it is struck. */
const STEPS_BEFORE = 60;
const SMOKE_STEPS_BEFORE = 5;
/** At most so much later: at any time of a step. */
const SOME_STEPS_MS = 100;

const COMMON = {
	nodes: "1:2",
	workersOf: () => WORKERS,
	conf: { last_call_timeout: 10 },
};

/** @type {Readonly<Record<string, import("../cluster/cluster-job.js").RunSettings>>} */
const RUNS = {
	soft: {
		...COMMON,
		flags: ["--restart-policy", "soft"],
		program: program("soft-train.js"),
	},
	hard: { ...COMMON, program: program("train.js") },
};

const HARD = "elastic-run, hard";

/**
 * The example of soft restarts beside that of hard ones. No step that all had done is done again.
 * @type {import("../figures.js").Figure}
 */
export const EXAMPLE_FIGURE = {
	name: "soft-example",
	title: `examples/soft-train.js (hard: train.js) on two agents with ${WORKERS} workers each, the worker of rank 0 is killed → the first step after it`,
	unit: "ms",
	goal: { atMost: 0.8, times: [HARD] },
	rounds: 3,
	peers: [],
	needsEtcd: true,
	beside: [
		{
			name: HARD,
			measure: async (place, { launcher, etcd }) =>
				(await play(launcher, RUNS.hard, place, etcd)).ms,
		},
	],
	async open(place) {
		const etcd = await Etcd.start(place.scratch);
		const session = {
			etcd,
			launcher: undefined,
			async measure(launcher) {
				session.launcher = launcher;
				const { ms, lost } = await play(launcher, RUNS.soft, place, etcd);
				if (lost > 0) throw new Error(`${lost} steps are done again`);
				return ms;
			},
			close: () => etcd.stop(),
		};
		return session;
	},
};

/** Strikes in the middle of the training. */
async function play(launcher, run, place, etcd) {
	const job = new ClusterJob(
		launcher,
		{ ...run, endpoint: etcd.endpoint },
		place,
	);
	const worldSize = 2 * WORKERS;
	try {
		job.start("a", "b");
		const atFirst = place.isSmoke ? SMOKE_STEPS_BEFORE : STEPS_BEFORE;
		await job.marked("step", atFirst * worldSize, { worldSize });
		await sleep(Math.random() * SOME_STEPS_MS);
		const [{ round }] = job.marks("step");
		const at = job.killWorker(0);
		const steps = await job.until("step of a later round", () => {
			const all = job.marks("step");
			return all.some((step) => step.round > round) ? all : undefined;
		});
		const next = steps.find((step) => step.round > round);
		const before = steps.filter((step) => step.round === round);
		return {
			ms: next.at - at,
			// Somebody may have been one step ahead of the others.
			lost: Math.max(0, doneByAll(before, worldSize) - (next.figure - 1)),
		};
	} finally {
		job.close();
	}
}

/** The newest step that each of the workers has done. */
function doneByAll(steps, worldSize) {
	const newest = Array.from({ length: worldSize }, (_, rank) =>
		Math.max(
			...steps.filter((step) => step.rank === rank).map(({ figure }) => figure),
		),
	);
	return Math.min(...newest);
}

/** An example that marks its steps, with checkpoints of its own. */
function program(name) {
	return ({ marks, directory }) => [
		...["/usr/bin/env", `MARKS=${marks}`],
		...[process.execPath, "--import", here("mark-steps.js")],
		here(`../../examples/${name}`),
		...["--steps", "1000000", "--checkpoint-dir", `${directory}/checkpoints`],
	];
}
