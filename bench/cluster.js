import { setTimeout as sleep } from "node:timers/promises";
import { clusterFigure } from "./cluster/cluster-figure.js";
import { deathFigure } from "./cluster/death-figure.js";
import { etcdTells } from "./floors/etcd-floors.js";
import { familyOf, processorMs } from "./processes.js";

/** How often a node dies for a 95th percentile. */
const DEATHS = 20;
const LINKED_DEATHS = 40;
/** The shortest lease that etcd grants by default, in seconds. */
const SHORT_TTL_S = 2;
/** What the slowest of the background work needs to come to rest, in milliseconds. */
const COME_TO_REST_MS = 15_000;
const IDLE_MS = 20_000;
const QUICK_IDLE_MS = 2_000;

/**
 * Runs over several agents, all on this machine: those of elastic-run meet at an
 * etcd, those of torchrun at the first of them (c10d).
 * @type {readonly import("./figures.js").Figure[]}
 */
export const CLUSTER_FIGURES = [
	clusterFigure({
		name: "cluster-restart",
		title:
			"two agents with 4 workers each, one worker fails → the last of all 8 is started again",
		rounds: 5,
		peers: ["torchrun"],
		goal: { atMost: 85 },
		beside: [etcdTells],
		async play(job) {
			await job.form("a", "b");
			const failedAt = await job.failWorker();
			return (await job.world(8, failedAt)) - failedAt;
		},
	}),
	clusterFigure({
		name: "cluster-told",
		title: "the same → the first worker of the other agent gets SIGTERM",
		rounds: 5,
		peers: ["torchrun"],
		goal: { atMost: 50 },
		beside: [etcdTells],
		async play(job) {
			await job.form("a", "b");
			const failedAt = await job.failWorker();
			await job.world(8, failedAt);
			// The other agent's are the lower half.
			const told = job.marks("term").filter(({ rank }) => rank < 4);
			return Math.min(...told.map(({ at }) => at)) - failedAt;
		},
	}),
	clusterFigure({
		name: "cluster-killed",
		title:
			"one of three agents is killed, leases live 5 s → the last of the others' 8 workers is started again",
		rounds: LINKED_DEATHS,
		run: { nodes: "1:3", conf: { lease_ttl: 5 } },
		goal: { atMost: 200, p95AtMost: 350 },
		beside: [etcdTells],
		async play(job) {
			await job.form("a", "b", "c");
			// Who coordinates is killed as often as another one; all are linked by then.
			await sleep(500 + Math.random() * 1_000);
			const [name] = ["a", "b", "c"].sort(() => Math.random() - 0.5);
			const at = job.signal(name, "SIGKILL");
			return (await job.world(8, at)) - at;
		},
	}),
	killed(SHORT_TTL_S, DEATHS),
	killed(5, DEATHS / 2),
	clusterFigure({
		name: "cluster-left",
		title:
			"one of two agents gets SIGTERM → the last of the other's 4 workers is started again",
		rounds: 5,
		run: { nodes: "1:2" },
		goal: { atMost: 300 },
		beside: [etcdTells],
		async play(job) {
			await job.form("a", "b");
			const at = job.signal("b", "SIGTERM");
			return (await job.world(4, at)) - at;
		},
	}),
	clusterFigure({
		name: "cluster-joined",
		title:
			"a third agent is started, and no more are wanted → the last of all 12 workers is started",
		rounds: 5,
		peers: ["torchrun"],
		run: { nodes: "1:3", conf: { last_call_timeout: 2 } },
		goal: { atMost: 1_500 },
		async play(job) {
			await job.form("a", "b");
			const at = job.start("c");
			return (await job.world(12, at)) - at;
		},
	}),
	formed(0, { atMost: 1_500 }),
	formed(2, { atMost: 3_500 }),
	clusterFigure({
		name: "cluster-frozen",
		title: `one of two agents is stopped by SIGSTOP, its lease lives ${SHORT_TTL_S} s → the last of the other's 4 workers is started again`,
		rounds: 5,
		run: { nodes: "1:2", conf: { lease_ttl: SHORT_TTL_S } },
		goal: { atMost: SHORT_TTL_S * 1_000 + 300 },
		async play(job) {
			await job.form("a", "b");
			const at = job.signal("b", "SIGSTOP");
			const wentOnAt = await job.world(4, at);
			await thaw(job);
			return wentOnAt - at;
		},
	}),
	clusterFigure({
		name: "cluster-thawed",
		title:
			"the same agent goes on a second later → the last of all 8 workers is started, in one round",
		rounds: 5,
		run: {
			nodes: "1:2",
			conf: { lease_ttl: SHORT_TTL_S, last_call_timeout: 0 },
		},
		goal: {},
		async play(job) {
			await job.form("a", "b");
			const frozenAt = job.signal("b", "SIGSTOP");
			await job.world(4, frozenAt);
			await sleep(1_000);
			const { worlds } = job;
			const thawedAt = job.signal("b", "SIGCONT");
			const backAt = await job.world(8, thawedAt);
			if (job.worlds !== worlds + 1) {
				throw new Error(`${job.worlds - worlds} rounds, where one is enough`);
			}
			return backAt - thawedAt;
		},
	}),
	idleProcessor({ name: "cluster-idle", peers: ["torchrun"] }),
	idleProcessor({
		name: "cluster-idle-linkless",
		run: { flags: ["--links", "off"] },
	}),
	idle({
		name: "cluster-requests",
		title: "what one of two idle agents sends to etcd",
		unit: "/s",
		goal: { atMost: 1.5 },
		async watch(_, durationMs, etcd) {
			const [before, start] = [await etcd.requests(), performance.now()];
			await sleep(durationMs);
			const sent = (await etcd.requests()) - before;
			return sent / 2 / ((performance.now() - start) / 1_000);
		},
	}),
];

/** @returns {import("./figures.js").Figure} */
function killed(ttlS, rounds) {
	return deathFigure({
		name: `cluster-lapsed-${ttlS}`,
		title: `one of two agents without links is killed, its lease lives ${ttlS} s → the last of the other's 4 workers is started again`,
		rounds,
		ttlS,
		wentOn: (job, at) => job.world(4, at),
	});
}

/** @returns {import("./figures.js").Figure} */
function formed(lastCallS, goal) {
	return clusterFigure({
		name: `cluster-formed-${lastCallS}`,
		title: `two agents of at most three are started, the last call takes ${lastCallS} s → the last of all 8 workers of one world is started`,
		rounds: 5,
		// torchrun refuses a last call that takes no time.
		peers: lastCallS > 0 ? ["torchrun"] : [],
		run: { nodes: "1:3", conf: { last_call_timeout: lastCallS } },
		goal,
		async play(job) {
			const at = job.start("a", "b");
			return (await job.world(8, at)) - at;
		},
	});
}

/**
 * @param {Omit<import("./figures.js").Figure, "rounds"> & {
 *   watch: (job: import("./cluster/cluster-job.js").ClusterJob, durationMs: number,
 *     etcd: import("./etcd.js").Etcd) => Promise<number> }} options
 * @returns {import("./figures.js").Figure}
 */
function idle({ watch, ...figure }) {
	return clusterFigure({
		...figure,
		rounds: 2,
		async play(job, { isQuick }, etcd) {
			await job.form("a", "b");
			if (!isQuick) await sleep(COME_TO_REST_MS);
			return watch(job, isQuick ? QUICK_IDLE_MS : IDLE_MS, etcd);
		},
	});
}

/** @returns {import("./figures.js").Figure} */
function idleProcessor(figure) {
	const linkless = figure.run === undefined ? "" : " without links";
	return idle({
		title: `processor of one of two idle agents${linkless} with 4 workers each, over ${IDLE_MS / 1_000} s, % of a core`,
		unit: "%",
		goal: { atMost: 0.3 },
		...figure,
		async watch(job, durationMs) {
			const agents = ["a", "b"].flatMap((name) => helpersOf(job, name));
			const used = () => sum(agents.map(processorMs));
			const [before, start] = [used(), performance.now()];
			await sleep(durationMs);
			return ((used() - before) / (performance.now() - start) / 2) * 100;
		},
	});
}

async function thaw(job) {
	const at = job.signal("b", "SIGCONT");
	await job.world(8, at);
}

/** An agent's processes, its workers apart. */
function helpersOf(job, name) {
	const workers = new Set(job.marks("start").map(({ pid }) => pid));
	return familyOf(job.pidOf(name)).filter((pid) => !workers.has(pid));
}

function sum(numbers) {
	return numbers.reduce((total, each) => total + each, 0);
}
