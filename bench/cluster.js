import { setTimeout as sleep } from "node:timers/promises";
import { clusterFigure } from "./cluster/cluster-figure.js";
import { etcdTells, leaseEnds } from "./floors/etcd-floors.js";
import { timeOfRestart } from "./job.js";
import { elasticRun } from "./launchers.js";
import { familyOf, processorShare } from "./processes.js";

/** The shortest lease that etcd grants by default, in seconds. */
const SHORT_TTL_S = 2;
/** What the slowest of the background work needs to come to rest, in milliseconds. */
const COME_TO_REST_MS = 8_000;
const IDLE_MS = 15_000;
const QUICK_IDLE_MS = 2_000;

/**
 * The same restart without a store.
 * @type {import("./figures.js").Beside}
 */
const restartAlone = {
	name: "restart-4",
	measure: (place) =>
		timeOfRestart(
			{ launcher: elasticRun(), count: 4, mode: "fail-once" },
			place,
		),
};
/** Of a node that ends no lease. */
const lapsed = leaseEnds(SHORT_TTL_S);

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
		goal: { atMost: 1.3, times: [restartAlone.name] },
		beside: [restartAlone],
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
		goal: { atMost: 6, times: [etcdTells.name] },
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
		rounds: 6,
		run: { nodes: "1:3", conf: { lease_ttl: 5 } },
		goal: { atMost: 3, times: [restartAlone.name] },
		beside: [restartAlone],
		async play(job) {
			await job.form("a", "b", "c");
			// Who coordinates is killed as often as another one; all are linked by then.
			await sleep(500 + Math.random() * 1_000);
			const [name] = ["a", "b", "c"].sort(() => Math.random() - 0.5);
			const at = job.signal(name, "SIGKILL");
			return (await job.world(8, at)) - at;
		},
	}),
	clusterFigure({
		name: "cluster-lapsed",
		title: `one of two agents without links is killed, its lease lives ${SHORT_TTL_S} s → the last of the other's 4 workers is started again`,
		rounds: 4,
		run: {
			nodes: "1:2",
			conf: { lease_ttl: SHORT_TTL_S },
			flags: ["--links", "off"],
		},
		goal: { atMost: 1.15, times: [lapsed.name] },
		beside: [lapsed],
		async play(job) {
			await job.form("a", "b");
			// At any time between two keepalives.
			await sleep((Math.random() * SHORT_TTL_S * 1_000) / 5);
			const at = job.signal("b", "SIGKILL");
			return (await job.world(4, at)) - at;
		},
	}),
	clusterFigure({
		name: "cluster-left",
		title:
			"one of two agents gets SIGTERM → the last of the other's 4 workers is started again",
		rounds: 5,
		run: { nodes: "1:2" },
		goal: { atMost: 1.5, times: [restartAlone.name] },
		beside: [restartAlone],
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
		rounds: 3,
		peers: ["torchrun"],
		run: { nodes: "1:3", conf: { last_call_timeout: 2 } },
		goal: { atMost: 0.2, times: ["torchrun"] },
		async play(job) {
			await job.form("a", "b");
			const at = job.start("c");
			return (await job.world(12, at)) - at;
		},
	}),
	clusterFigure({
		name: "cluster-formed",
		title:
			"two agents of at most three are started, the last call takes 2 s → the last of all 8 workers of one world is started",
		rounds: 2,
		peers: ["torchrun"],
		run: { nodes: "1:3", conf: { last_call_timeout: 2 } },
		goal: { atMost: 0.7, times: ["torchrun"] },
		async play(job) {
			const at = job.start("a", "b");
			return (await job.world(8, at)) - at;
		},
	}),
	clusterFigure({
		name: "cluster-frozen",
		title: `one of two agents is stopped by SIGSTOP, its lease lives ${SHORT_TTL_S} s → the last of the other's 4 workers is started again`,
		rounds: 3,
		run: { nodes: "1:2", conf: { lease_ttl: SHORT_TTL_S } },
		goal: { atMost: 1.15, times: [lapsed.name] },
		beside: [lapsed],
		async play(job) {
			await job.form("a", "b");
			const at = job.signal("b", "SIGSTOP");
			const wentOnAt = await job.world(4, at);
			await thaw(job);
			return wentOnAt - at;
		},
	}),
	clusterFigure({
		name: "cluster-idle",
		title: `processor of one of two idle agents with 4 workers each, over ${IDLE_MS / 1_000} s, % of a core`,
		unit: "%",
		rounds: 1,
		peers: ["torchrun"],
		goal: { atMost: 1, times: ["torchrun"] },
		async play(job, { isQuick }) {
			await job.form("a", "b");
			if (!isQuick) await sleep(COME_TO_REST_MS);
			const agents = ["a", "b"].flatMap((name) => helpersOf(job, name));
			const share = processorShare(agents, isQuick ? QUICK_IDLE_MS : IDLE_MS);
			return (await share) / 2;
		},
	}),
];

async function thaw(job) {
	const at = job.signal("b", "SIGCONT");
	await job.world(8, at);
}

/** An agent's processes, its workers apart. */
function helpersOf(job, name) {
	const workers = new Set(job.marks("start").map(({ pid }) => pid));
	return familyOf(job.pidOf(name)).filter((pid) => !workers.has(pid));
}
