import { ScaleRun } from "./scale/scale-run.js";

/** In the first restarts of a process most of its code is not compiled yet. */
const WARM_UP_AGENTS = 2_000;
const SMOKE_AGENTS = 20;

/**
 * What a restart takes as a job grows: the real agents over a real etcd, all on
 * this machine, with workers that cost nothing.
 * @type {readonly import("./figures.js").Figure[]}
 */
export const SCALE_FIGURES = [
	scale(100, { rounds: 10, atMost: 250 }),
	scale(1_000, { rounds: 7, atMost: 1_200 }),
	scale(5_000, { rounds: 3, atMost: 8_000 }),
];

/** @returns {import("./figures.js").Figure} */
function scale(size, { rounds, atMost }) {
	return {
		name: `scale-${size}`,
		title: `${size} agents and etcd on this machine: one worker's failure → the last of them has started its workers again`,
		unit: "ms",
		rounds,
		peers: [],
		needsEtcd: true,
		goal: { atMost },
		open: (place) => openScale(size, place),
	};
}

/** @returns {Promise<import("./figures.js").Session>} */
async function openScale(most, { scratch, isQuick, isSmoke }) {
	const size = isSmoke ? SMOKE_AGENTS : most;
	const run = new ScaleRun(size);
	const all = [];
	try {
		await run.open(scratch);
		const warmUps = isQuick ? 0 : Math.floor(WARM_UP_AGENTS / size);
		for (let round = 0; round < warmUps; round += 1) await run.restart();
	} catch (error) {
		await run.close();
		throw error;
	}
	return {
		async measure() {
			const { ms, costs } = await run.restart();
			all.push({ ms, ...costs });
			return ms;
		},
		notes: () => [inWords(size, meanOf(all))],
		close: () => run.close(),
	};
}

function meanOf(samples) {
	const mean = (name) =>
		samples.reduce((sum, each) => sum + each[name], 0) / samples.length;
	return Object.fromEntries(
		Object.keys(samples[0]).map((name) => [name, mean(name)]),
	);
}

function inWords(size, mean) {
	const each = (name, digits = 1) => (mean[name] / size).toFixed(digits);
	const kilobytes = (name) => (mean[name] / size / 1_000).toFixed(1);
	return [
		`an agent and round: ${each("looks")} looks and ${each("writes")} writes, ${each("events")} events`,
		`${kilobytes("received")} kB to etcd and ${kilobytes("sent")} kB from it`,
		`processor ${each("agentsMs", 2)} ms of agents and ${each("etcdMs", 2)} ms of etcd`,
		`${each("ms", 2)} ms of the time from the failure to the last start`,
	].join("; ");
}
