import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { clusterFigure } from "./cluster/cluster-figure.js";
import { etcdTells } from "./floors/etcd-floors.js";
import { watcherEnds } from "./floors/exit-floor.js";
import { fileIsSeen } from "./floors/watch-floor.js";
import { lastOf } from "./marks.js";
import { EXAMPLE_FIGURE } from "./soft/example.js";

const WORKER = fileURLToPath(new URL("soft/worker.js", import.meta.url));
const LISTENERS = 16;
const SMOKE_LISTENERS = 2;
const seen = fileIsSeen(LISTENERS);
const listenersIn = (isSmoke) => (isSmoke ? SMOKE_LISTENERS : LISTENERS);

/** Of runs under soft restarts, whose workers use the runtime library. */
const SOFT = {
	flags: ["--restart-policy", "soft"],
	program: ({ marks }) => [process.execPath, WORKER, marks],
};

/**
 * What soft restarts take, with real workers in Node.
 * @type {readonly import("./figures.js").Figure[]}
 */
export const SOFT_FIGURES = [
	clusterFigure({
		name: "soft-failed",
		title:
			"two agents with 4 workers each, a worker of one is killed → waitForWork has resolved in all 4 of the other",
		rounds: 6,
		run: SOFT,
		goal: { atMost: 4, times: [watcherEnds.name, etcdTells.name] },
		beside: [etcdTells, watcherEnds],
		async play(job) {
			await job.form("a", "b");
			const at = job.killWorker(-1);
			const wentOnAt = await wentOn(job, { at, worldSize: 8 });
			await job.marked("start", 4, { since: at, worldSize: 8 });
			return wentOnAt - at;
		},
	}),
	clusterFigure({
		name: "soft-left",
		title:
			"one of two agents gets SIGTERM → waitForWork has resolved in all 4 workers of the other",
		rounds: 5,
		run: { ...SOFT, nodes: "1:2" },
		goal: { atMost: 4, times: [seen.name, etcdTells.name] },
		beside: [seen, etcdTells],
		async play(job) {
			await job.form("a", "b");
			const at = job.signal("b", "SIGTERM");
			return (await wentOn(job, { at, worldSize: 4 })) - at;
		},
	}),
	clusterFigure({
		name: "soft-pause",
		title: `PAUSE is written by an agent → a listener in each of its ${LISTENERS} workers has it`,
		rounds: 3,
		run: {
			...SOFT,
			nodes: "1:2",
			conf: { last_call_timeout: 0 },
			workersOf: (name, isSmoke) => (name === "a" ? listenersIn(isSmoke) : 1),
		},
		goal: { atMost: 2, times: [seen.name] },
		beside: [seen],
		async play(job, { isSmoke }) {
			const listeners = listenersIn(isSmoke);
			await job.form("a");
			// Somebody comes, and goes again: each time all are told.
			const cameAt = job.start("b");
			const came = await told(job, cameAt, listeners, listeners);
			const larger = { since: cameAt, worldSize: listeners + 1 };
			await job.marked("work", listeners, larger);
			await job.marked("start", 1, larger);
			if (!isSmoke) await sleep(1_000);
			const at = job.signal("b", "SIGTERM");
			const went = await told(job, at, listeners, listeners + 1);
			const smaller = { since: at, worldSize: listeners };
			await job.marked("work", listeners, smaller);
			return [...came, ...went];
		},
	}),
	EXAMPLE_FIGURE,
];

/** When the last of the four survivors had its place in the next round. */
async function wentOn(job, { at, worldSize }) {
	return lastOf(await job.marked("work", 4, { since: at, worldSize }));
}

/** How long each of the listeners was told after the agent had written it. */
async function told(job, since, listeners, worldSize) {
	const marks = await job.marked("pause", listeners, { since, worldSize });
	return marks.slice(0, listeners).map(({ figure }) => figure);
}
