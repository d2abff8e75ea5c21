// Restarted Python workers are as those that were started: their training, their data loaders, and what many of them leave.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeEach, expect, it } from "vitest";
import { pause } from "../../src/base/back-off.js";
import { systemClock } from "../../src/base/clock.js";
import { needPython, PYTHON } from "../fixtures/python/start-python.js";
import { type Launch, type LaunchSite, openSite } from "../helpers/launch.js";
import { isAlive } from "../helpers/processes.js";
import { childrenOf, isReady, order, parked, told } from "../helpers/warm.js";

const LIMIT_MS = 1_800_000;
/** Set WARM_RESTARTS to 1000 for the figure in docs/warm-restarts.md. */
const RESTARTS = Number(process.env.WARM_RESTARTS || 20);
/** Caches of the launcher and of Python have their size by then. */
const SETTLED_AFTER = 10;
const MOST_GROWTH_KB = 4_096;

beforeEach(needPython);

const fixture = (name: string) =>
	fileURLToPath(new URL(`../fixtures/warm/${name}.py`, import.meta.url));

it(
	"trains to the same bits, with data loaders that fork and spawn; its helper sleeps, and is hardly larger than a worker",
	async () => {
		const site = openSite();
		const ranks = ["--nproc-per-node", "2"];
		const launch = start(site, [...ranks, fixture("train"), site.path, "3"]);

		const helper = await isReady(launch);
		await parked(helper, 2);
		await told<Result>(launch, 2);
		const workers = childrenOf(launch.pid).filter(({ pid }) => pid !== helper);
		const largest = Math.max(...workers.map(({ pid }) => ownKilobytes(pid)));
		expect(ownKilobytes(helper)).toBeLessThan(1.2 * largest);
		const used = processorTime(helper);
		await pause(systemClock, 3_000);
		expect(processorTime(helper)).toBe(used);
		go(site, 1);
		await told<Result>(launch, 4);
		await parked(helper, 4);
		go(site, 2);
		const results = await told<Result>(launch, 6);
		go(site, 3);
		expect((await launch.ended).exitCode).toBe(0);
		for (const round of [2, 3]) {
			expect(launch.output.stderr).toContain(
				`round ${round}: workers start warm`,
			);
			expect(ofRound(results, round)).toEqual(ofRound(results, 1));
		}
		expect(ofRound(results, 1)).toHaveLength(2);
		const drawn = results.flatMap((one) => one.drawn);
		expect(new Set(drawn).size).toBe(drawn.length);
	},
	LIMIT_MS,
);

it(`leaves nothing behind in ${RESTARTS} restarts`, async () => {
	const site = openSite();
	const launch = start(site, [
		...["--nproc-per-node", "2", fixture("restarts"), site.path],
	]);
	const helper = await isReady(launch);
	let before: Holding | undefined;
	for (let round = 1; round <= RESTARTS; round += 1) {
		// Its two workers, and their successors.
		await parked(helper, round === 1 ? 2 : 4);
		if (round === SETTLED_AFTER) before = holding(launch.pid, helper);
		order(site, round, ["exit", "signal", "raise"][round % 3] ?? "");
		await launch.saw("stderr", `round ${round + 1}: workers start warm`);
	}
	await parked(helper, 4);
	const after = holding(launch.pid, helper);
	expect(after).toMatchObject({
		processes: before?.processes,
		descriptors: before?.descriptors,
		children: before?.children,
	});
	const [launcher, forking] = [0, 1].map(
		(which) => (after.kilobytes[which] ?? 0) - (before?.kilobytes[which] ?? 0),
	);
	console.log(
		`${RESTARTS} restarts: the launcher has ${launcher} kB more, the helper ${forking} kB`,
	);
	expect(forking).toBeLessThan(MOST_GROWTH_KB);
	order(site, RESTARTS + 1, "end");
	expect((await launch.ended).exitCode).toBe(0);
	expect(isAlive(helper)).toBe(false);
	await site.isSwept();
}, 3_600_000);

interface Result {
	readonly round: number;
	readonly rank: number;
	readonly results: unknown;
	readonly drawn: readonly string[];
}

/** What a launcher and its helper hold. */
interface Holding {
	/** All that bear this launcher's mark. */
	readonly processes: number;
	readonly descriptors: readonly number[];
	readonly children: readonly number[];
	/** Private memory of each. */
	readonly kilobytes: readonly number[];
}

function holding(launcher: number, helper: number): Holding {
	const both = [launcher, helper];
	return {
		processes: marked(helper),
		descriptors: both.map((pid) => readdirSync(`/proc/${pid}/fd`).length),
		children: both.map((pid) => childrenOf(pid).length),
		kilobytes: both.map(privateKilobytes),
	};
}

/** Processes with the mark of the launcher that this one belongs to. */
function marked(pid: number): number {
	const environment = (one: string | number) => {
		try {
			return readFileSync(`/proc/${one}/environ`, "utf8");
		} catch {
			return "";
		}
	};
	const mark = /ELASTIC_RUN_INCARNATION=[^\0]+/.exec(environment(pid))?.[0];
	if (mark === undefined) throw new Error(`${pid} has no mark`);
	return readdirSync("/proc").filter((name) => environment(name).includes(mark))
		.length;
}

function privateKilobytes(pid: number): number {
	const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
	return [...text.matchAll(/^Private_\w+:\s+(\d+) kB/gm)].reduce(
		(sum, [, kilobytes]) => sum + Number(kilobytes),
		0,
	);
}

/** Memory that it has written to, also where a process that it has forked shares it. */
function ownKilobytes(pid: number): number {
	const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
	return Number(/^Anonymous:\s+(\d+) kB/m.exec(text)?.[1]);
}

/** In nanoseconds. */
function processorTime(pid: number): number {
	const [used] = readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ");
	return Number(used);
}

function start(site: LaunchSite, command: readonly string[]): Launch {
	const flags = ["--warm", "auto", "--max-restarts", String(RESTARTS + 10)];
	return site.launch([...flags, ...command], { env: { PYTHON_EXEC: PYTHON } });
}

const go = (site: LaunchSite, round: number) => order(site, round, "go");

function ofRound(results: readonly Result[], wanted: number) {
	return results
		.filter(({ round }) => round === wanted)
		.sort((one, other) => one.rank - other.rank)
		.map(({ rank, results }) => ({ rank, results }));
}
