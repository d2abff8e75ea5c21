import { ScaleRun } from "./scale/scale-run.js";

/** In the first restarts of a process most of its code is not compiled yet. */
const WARM_UP_AGENTS = 5_000;
const SMOKE_AGENTS = 20;

/** A run of many, and one of few, against which growth is measured. */
const MANY = 5_000;
const FEW = 100;
const TOLD = 1_000;

/** @typedef {Awaited<ReturnType<ScaleRun["restart"]>>} Restart */

/**
 * What a restart takes as a job grows: the real agents over a real etcd, all on
 * this machine, with workers that cost nothing.
 * @type {readonly import("./figures.js").Figure[]}
 */
export const SCALE_FIGURES = [
	scale({
		name: `scale-${MANY}`,
		title: `${MANY} agents without links and etcd on this machine: one worker's failure → the last of them has started its workers again, for each agent`,
		areLinked: false,
		atMost: 1.2,
		beside: { name: `${FEW} agents`, size: FEW },
	}),
	scale({
		name: "scale-links",
		title: "the same with links, by which they write their records together",
		areLinked: true,
		atMost: 0.33,
		beside: { name: "without links", size: MANY },
	}),
	scale({
		name: "scale-told",
		title: `${TOLD} agents with links: one worker's failure → the last of them knows that the round is left, for each agent`,
		of: ({ toldMs }) => toldMs,
		size: TOLD,
		areLinked: true,
		atMost: 0.5,
		beside: { name: "without links", size: TOLD },
	}),
	asked(FEW, 0.25),
	asked(1_000, 0.1),
];

/** What etcd is asked for. */
function asked(size, atMost) {
	return scale({
		name: `scale-asked-${size}`,
		title: `${size} agents with links: looks and writes in etcd until all workers run again, for each agent`,
		unit: "requests",
		of: ({ costs: { looks, writes } }) => looks + writes,
		size,
		areLinked: true,
		atMost,
		beside: { name: "without links", size },
	});
}

function scale({
	name,
	title,
	unit = "ms",
	of = (/** @type {Restart} */ { ms }) => ms,
	size = MANY,
	areLinked,
	atMost,
	beside,
}) {
	return {
		name,
		title,
		unit,
		rounds: 3,
		peers: [],
		needsEtcd: true,
		goal: { atMost, times: [beside.name] },
		beside: [
			{
				name: beside.name,
				measure: (_, session) => session.other.measure(of),
			},
		],
		async open(place) {
			const other = await openScale(beside.size, false, place);
			try {
				const own = await openScale(size, areLinked, place);
				const both = [other, own];
				return {
					other,
					measure: () => own.measure(of),
					notes: () => both.map((run) => run.notes()),
					async close() {
						await Promise.all(both.map((run) => run.close()));
					},
				};
			} catch (error) {
				await other.close();
				throw error;
			}
		},
	};
}

async function openScale(most, areLinked, { scratch, isQuick, isSmoke }) {
	const size = isSmoke ? SMOKE_AGENTS : most;
	const run = new ScaleRun(size, areLinked);
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
		async measure(of) {
			const restart = await run.restart();
			const { costs, ...times } = restart;
			const watchers = await run.watchers();
			all.push({ ...times, ...costs, watchers });
			return of(restart) / size;
		},
		notes: () =>
			inWords(
				`${size} agents with${areLinked ? "" : "out"} links`,
				size,
				meanOf(all),
			),
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

function inWords(who, size, mean) {
	const each = (name, digits = 2) => (mean[name] / size).toFixed(digits);
	const kilobytes = (name) => (mean[name] / size / 1_000).toFixed(1);
	return [
		`${who}, each of them in a round: ${each("looks")} looks and ${each("writes")} writes, ${each("events")} events of ${each("watchers")} watches`,
		`${kilobytes("received")} kB to etcd and ${kilobytes("sent")} kB from it`,
		`processor ${each("agentsMs")} ms of agents and ${each("etcdMs")} ms of etcd`,
		`from the failure ${mean.toldMs.toFixed(0)} ms until all know of it, ${mean.ms.toFixed(0)} ms to the last start`,
	].join("; ");
}
