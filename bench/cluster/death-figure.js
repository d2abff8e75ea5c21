import { setTimeout as sleep } from "node:timers/promises";
import { leaseEnds } from "../floors/etcd-floors.js";
import { clusterFigure } from "./cluster-figure.js";

/**
 * One of two agents without links is killed, and the other one goes on when its lease has lapsed.
 * @param {object} figure as `clusterFigure` takes it, with `ttlS`, the lease's time to live in seconds,
 *   and `wentOn(job, at)`, which resolves with when the other one did, in milliseconds
 * @returns {import("../figures.js").Figure}
 */
export function deathFigure({ ttlS, wentOn, run, ...figure }) {
	return clusterFigure({
		...figure,
		run: {
			...run,
			nodes: "1:2",
			conf: { lease_ttl: ttlS },
			flags: [...(run?.flags ?? []), "--links", "off"],
		},
		goal: { atMost: ttlS * 1_000 + 300, p95AtMost: ttlS * 1_000 + 800 },
		beside: [leaseEnds(ttlS)],
		async play(job) {
			await job.form("a", "b");
			// At any time between two keepalives.
			await sleep((Math.random() * ttlS * 1_000) / 5);
			const at = job.signal("b", "SIGKILL");
			return (await wentOn(job, at)) - at;
		},
	});
}
