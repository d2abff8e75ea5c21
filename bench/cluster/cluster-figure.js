import { Etcd, freePort } from "../etcd.js";
import { ClusterJob } from "./cluster-job.js";
import { Trace } from "./trace.js";

/**
 * A figure of runs over several agents, which meet at one etcd of the figure's
 * own. What is measured beside it gets the session, and in it that etcd.
 *
 * @param {Omit<import("../figures.js").Figure, "unit" | "measure" | "open"> & {
 *   unit?: string,
 *   run?: import("./cluster-job.js").RunSettings,
 *   play: Play }} options
 * @returns {import("../figures.js").Figure}
 *
 * @typedef {(job: ClusterJob, place: import("../figures.js").Place, etcd: Etcd) => Promise<number | number[]>} Play
 */
export function clusterFigure({ play, run, ...figure }) {
	return {
		unit: "ms",
		peers: [],
		needsEtcd: true,
		...figure,
		async open(place) {
			const etcd = await Etcd.start(place.scratch);
			let traced = [];
			const playTraced = async (job) => {
				const trace = await Trace.begin(etcd);
				try {
					return await play(job, place, etcd);
				} finally {
					traced = await trace.end(job);
				}
			};
			const toPlay = place.isTraced ? playTraced : play;
			return {
				etcd,
				measure: (launcher) => playOnce(launcher, run, place, etcd, toPlay),
				// Of the last round.
				notes: () => traced,
				close: () => etcd.stop(),
			};
		},
	};
}

/** One run from its start to its good end; `play` says what is done to it meanwhile, and what that took. */
export async function playOnce(launcher, run, place, etcd, play) {
	const endpoint =
		launcher.name === "torchrun"
			? `127.0.0.1:${await freePort()}`
			: etcd.endpoint;
	const job = new ClusterJob(launcher, { ...run, endpoint }, place);
	try {
		const value = await play(job, place, etcd);
		await job.end();
		return value;
	} finally {
		job.close();
	}
}
