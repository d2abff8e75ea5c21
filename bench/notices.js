import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { ClusterJob } from "./cluster/cluster-job.js";
import { Etcd } from "./etcd.js";
import { lastOf } from "./marks.js";
import { STAND_INS } from "./notices/stand-ins.js";
import { processorMs } from "./processes.js";
import { doneByAll, SOFT_EXAMPLE } from "./soft/example.js";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const runs = (name) => ({
	program: ({ marks }) => [process.execPath, here(`notices/${name}`), marks],
});

/** How often each source is asked, in milliseconds: docs/notices.md. */
const LOOKS_MS = { aws: 2_000, gcp: 0, azure: 1_000, file: 250 };
/** What may come on top: to write it, and to wake the worker. */
const TELL_MS = 100;
/** Notices in one run. */
const noticesOf = ({ isSmoke }) => (isSmoke ? 1 : 5);
const IDLE_MS = 60_000;
const QUICK_IDLE_MS = 1_000;
/** What a start leaves behind is done by then. */
const REST_MS = 5_000;
/** The steps before the first notice. */
const STEPS = 40;
const SMOKE_STEPS = 4;

/**
 * Of machines that announce their end.
 * @type {readonly import("./figures.js").Figure[]}
 */
export const NOTICE_FIGURES = [
	...Object.entries(LOOKS_MS).map(([name, lookMs]) => told(name, lookMs)),
	...[30, 5, 1].map(inWindow),
	spare({
		name: "notices-spare-gap",
		title: "the survivors' longest time without a step",
		unit: "ms",
		goal: { atMost: 300 },
		of: ({ gapMs }) => gapMs,
	}),
	spare({
		name: "notices-spare-lost",
		title: "steps that all had done and that are done again",
		unit: "steps",
		goal: { atMost: 0, p95AtMost: 0 },
		of: ({ lost }) => lost,
	}),
	...["aws", "gcp", "azure", "file"].map(idle),
];

/**
 * A figure whose runs meet at an etcd of its own.
 * @param {Partial<import("./figures.js").Figure> & Omit<import("./figures.js").Figure, "measure" | "open"> & {
 *   play: (open: (run: import("./cluster/cluster-job.js").RunSettings) => ClusterJob,
 *     place: import("./figures.js").Place) => Promise<number | number[]> }} options
 * @returns {import("./figures.js").Figure}
 */
function figure({ play, ...about }) {
	return {
		peers: [],
		needsEtcd: true,
		...about,
		async open(place) {
			const etcd = await Etcd.start(place.scratch);
			const { endpoint } = etcd;
			return {
				etcd,
				measure: (launcher) =>
					play(
						(run) => new ClusterJob(launcher, { ...run, endpoint }, place),
						place,
					),
				close: () => etcd.stop(),
			};
		},
	};
}

function told(name, lookMs) {
	return figure({
		name: `notices-told-${name}`,
		title: `${name}'s stand-in announces the machine's end → its worker knows (asked each ${lookMs} ms)`,
		unit: "ms",
		rounds: 4,
		goal: { p95AtMost: lookMs + TELL_MS },
		play: (open, place) =>
			withStandIn(name, place, async (standIn) => {
				const one = { nodes: "1", workersOf: () => 1 };
				const job = open({ ...one, ...runs("watcher.js"), ...standIn });
				try {
					await job.form("a");
					const samples = [];
					for (let count = 0; count < noticesOf(place); count += 1) {
						if (!place.isSmoke)
							await sleep(REST_MS / 5 + Math.random() * lookMs);
						const at = Date.now();
						standIn.announce();
						const marks = await marked(job, "notice", at);
						samples.push(lastOf(marks) - at);
						const goneAt = Date.now();
						standIn.withdraw();
						await marked(job, "stay", goneAt);
					}
					await job.end();
					return samples;
				} finally {
					job.close();
				}
			}),
	});
}

const marked = (job, event, since) =>
	job.marked(event, 1, { since, worldSize: 1 });

/** A platform that leaves so many seconds after SIGTERM; workers save for 100 ms. */
function inWindow(seconds) {
	return figure({
		name: `notices-window-${seconds}`,
		title: `one of two agents with 2 workers each has ${seconds} s, its workers save for 100 ms → all workers of the other run without it`,
		unit: "ms",
		rounds: 20,
		goal: { p95AtMost: seconds * 1_000 },
		async play(open, place) {
			const flags = ["--termination-grace", String(seconds)];
			const two = { nodes: "1:2", workersOf: () => 2, flags };
			const job = open({ ...two, ...runs("saver.js") });
			try {
				await job.form("a", "b-0");
				const samples = [];
				for (let count = 0; count < noticesOf(place); count += 1) {
					const at = job.signal(`b-${count}`, "SIGTERM");
					samples.push((await job.world(2, at)) - at);
					const startedAt = job.start(`b-${count + 1}`);
					await job.world(4, startedAt);
				}
				await job.end();
				return samples;
			} finally {
				job.close();
			}
		},
	});
}

/**
 * The example of soft restarts on two agents, and a spare takes the place of one that has two minutes.
 * @param {Pick<import("./figures.js").Figure, "name" | "title" | "unit" | "goal"> & {
 *   of: (told: { gapMs: number, lost: number }) => number }} options
 */
function spare({ title, of, ...about }) {
	return figure({
		title: `examples/soft-train.js on two agents with 2 workers each and a spare, one has a notice of 2 min: ${title}`,
		rounds: 4,
		...about,
		async play(open, place) {
			const flags = [
				...(SOFT_EXAMPLE.flags ?? []),
				"--termination-grace",
				"120",
			];
			const job = open({ ...SOFT_EXAMPLE, nodes: "2", flags });
			const worldSize = 4;
			try {
				job.start("a", "b-0");
				const atFirst = place.isSmoke ? SMOKE_STEPS : STEPS;
				await job.marked("step", atFirst * worldSize, { worldSize });
				const samples = [];
				for (let count = 0; count < noticesOf(place); count += 1) {
					job.start(`b-${count + 1}`);
					await job.saying(`b-${count + 1}`, "this node is a spare");
					await sleep(Math.random() * 100);
					const [{ round }] = job.marks("step").slice(-1);
					job.signal(`b-${count}`, "SIGTERM");
					samples.push(of(await nextSteps(job, round, worldSize)));
				}
				return samples;
			} finally {
				job.close();
			}
		},
	});
}

async function nextSteps(job, round, worldSize) {
	const steps = await job.until("steps of a later round", () => {
		const all = job.marks("step");
		const later = all.filter((step) => step.round > round);
		return later.length >= worldSize ? all : undefined;
	});
	const before = steps.filter((step) => step.round === round);
	const next = steps.find((step) => step.round > round);
	return {
		gapMs: next.at - lastOf(before),
		lost: Math.max(0, doneByAll(before, worldSize) - (next.figure - 1)),
	};
}

/** Two launchers at a time, so that what else the machine does hits both. */
function idle(name) {
	return figure({
		name: `notices-idle-${name}`,
		title: `processor of a launcher that listens to ${name}'s stand-in for ${IDLE_MS / 1_000} s, more than of one that listens to none, % of a core`,
		unit: "%",
		rounds: 2,
		goal: { atMost: 0.05 },
		play: (open, place) =>
			withStandIn(name, place, async (standIn) => {
				const one = { nodes: "1", workersOf: () => 1, ...runs("watcher.js") };
				const jobs = [
					open({ ...one, ...standIn }),
					open({ ...one, flags: ["--notices", "off"] }),
				];
				try {
					for (const job of jobs) await job.form("a");
					await sleep(place.isQuick ? 0 : REST_MS);
					const used = () => jobs.map((job) => processorMs(job.pidOf("a")));
					const [[on, off], at] = [used(), performance.now()];
					await sleep(place.isQuick ? QUICK_IDLE_MS : IDLE_MS);
					const [onNow, offNow] = used();
					const moreMs = onNow - on - (offNow - off);
					for (const job of jobs) await job.end();
					return (100 * moreMs) / (performance.now() - at);
				} finally {
					for (const job of jobs) job.close();
				}
			}),
	});
}

/** Launchers that start meanwhile find the stand-in. */
async function withStandIn(name, { scratch }, use) {
	const standIn = await STAND_INS[name](scratch);
	Object.assign(process.env, standIn.environment);
	try {
		return await use(standIn);
	} finally {
		for (const variable of Object.keys(standIn.environment)) {
			delete process.env[variable];
		}
		standIn.close();
	}
}
