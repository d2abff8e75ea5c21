// What the launcher takes, each figure beside that of an earlier build on the same machine at the same time: absolute
// times would say more of the machine than of the launcher. What is worse is measured again before it is red.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ClusterJob } from "../../bench/cluster/cluster-job.js";
import { compilePrograms } from "../../bench/compile.js";
import { Etcd } from "../../bench/etcd.js";
import { FIGURES } from "../../bench/figures.js";
import { etcdTells } from "../../bench/floors/etcd-floors.js";
import { medianOf, typicalOf } from "../../bench/judge.js";
import { elasticRun } from "../../bench/launchers.js";
import { ScaleRun } from "../../bench/scale/scale-run.js";

/**
 * The build to compare with is that of the commit that brought this line, which no rebase loses. Where a change must take
 * longer, another day here makes its own commit the base.
 */
const BASE = "the base of 28 November 2026";
/** Twice as slow is red: half of that is left to chance. */
const MOST = 1.5;
/** What is disturbed by others is measured longer. */
const TRIES = 5;
/** How often each happens in a try. */
const FAILURES = 8;
const LEAVES = 3;
/** The other one's measurement is not that of what this one still does. */
const REST_MS = 300;
const LONGEST_MS = 600_000;

const TITLES = {
	told: "J17 a worker fails → a peer's worker gets SIGTERM",
	restarted: "A2 the same → all 8 workers of two nodes run again",
	left: "A9 a node gets SIGTERM → the other's workers run again",
	killed: "T5 a node is killed → the other's workers run again",
};
type Time = keyof typeof TITLES;
type Pairs = readonly (readonly [own: number, base: number])[];

/** Figures of the bench, and in how many rounds of a try they are measured. */
const ROUNDS: Readonly<Record<string, number>> = {
	"cold-start-4": 4,
	"restart-4": 4,
	"restart-64": 1,
	exit: 5,
	memory: 1,
	console: 2,
	"soft-failed": 2,
};
/** Of many agents; what they ask of the store is counted. */
const AGENTS = 100;
const AGENTS_ROUNDS = 4;
const COSTS = ["ms", "agentsMs", "looks", "writes", "sent"] as const;

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "promised-times-"));
const base = join(scratch, "base");
const baseCli = join(base, "dist/bin/elastic-run.js");
let whyNoBase: string | undefined;
beforeAll(() => {
	whyNoBase = makeBase();
}, LONGEST_MS);
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** In words why there is no base to compare with. */
function makeBase(): string | undefined {
	const git = (...args: readonly string[]) =>
		execFileSync("git", ["-C", ROOT, ...args], { stdio: "pipe" });
	try {
		const found = git("log", "-1", "--format=%H", `-S${BASE}`);
		// Until it is committed.
		const commit = found.toString().trim() || "HEAD";
		git("archive", "-o", `${base}.tar`, commit);
	} catch (error) {
		return `there is no earlier commit here: ${error}`;
	}
	mkdirSync(base);
	execFileSync("tar", ["-x", "-f", `${base}.tar`, "-C", base]);
	symlinkSync(join(ROOT, "node_modules"), join(base, "node_modules"));
	execFileSync(process.execPath, ["scripts/build.js", "--no-types"], {
		cwd: base,
		stdio: "pipe",
	});
	return undefined;
}

/** Two runs over two agents each, this build's and the base's, at one etcd; what happens to one happens to the other. */
class Pair {
	readonly samples: Record<Time, [own: number, base: number][]> = {
		told: [],
		restarted: [],
		left: [],
		killed: [],
	};
	private readonly jobs: readonly [ClusterJob, ClusterJob];

	constructor(
		endpoint: string,
		place: ConstructorParameters<typeof ClusterJob>[2],
	) {
		const settings = {
			endpoint,
			nodes: "1:2",
			conf: { last_call_timeout: 0 },
			flags: [
				...["--max-restarts", "1000", "--restart-delay", "0"],
				...["--max-identical-failures", "0"],
			],
		};
		const start = (launcher: { name: string; cli?: string }) =>
			new ClusterJob(launcher, settings, place);
		this.jobs = [
			start({ name: "elastic-run" }),
			start({ name: "elastic-run", cli: baseCli }),
		];
	}

	/** The agents of the first node begin, so that they coordinate in both runs. */
	async form(): Promise<void> {
		await Promise.all(this.jobs.map((job) => job.form("a")));
		await this.takeBack();
	}

	async measure(): Promise<void> {
		for (let time = 0; time < FAILURES; time += 1) {
			const [own, base] = await this.inTurn(fail);
			this.keep("told", own.told, base.told);
			this.keep("restarted", own.restarted, base.restarted);
		}
		for (let time = 0; time < LEAVES; time += 1) {
			this.keep("left", ...(await this.inTurn((job) => end(job, "SIGTERM"))));
			await this.takeBack();
		}
		// Most of it is waiting, so both wait at once.
		const [own, base] = this.jobs;
		const killed = [end(own, "SIGKILL"), end(base, "SIGKILL")] as const;
		this.keep("killed", ...(await Promise.all(killed)));
		await this.takeBack();
	}

	close(): void {
		for (const job of this.jobs) job.close();
	}

	private async inTurn<T>(
		measure: (job: ClusterJob) => Promise<T>,
	): Promise<[T, T]> {
		const own = await measure(this.jobs[0]);
		await sleep(REST_MS);
		const base = await measure(this.jobs[1]);
		await sleep(REST_MS);
		return [own, base];
	}

	private async takeBack(): Promise<void> {
		await Promise.all(this.jobs.map((job) => job.world(8, job.start("b"))));
		await sleep(2 * REST_MS);
	}

	private keep(time: Time, own: number, base: number): void {
		this.samples[time].push([own, base]);
	}
}

/** A worker of the second node fails; the first node's are the lower half. */
async function fail(job: ClusterJob) {
	const at = await job.failWorker();
	const restarted = (await job.world(8, at)) - at;
	const told = job
		.marks("term")
		.filter((mark) => mark.at > at && mark.rank < 4)
		.map((mark) => mark.at);
	return { told: Math.min(...told) - at, restarted };
}

/** The second node ends; returns when the first one's workers run without it. */
async function end(
	job: ClusterJob,
	signal: "SIGTERM" | "SIGKILL",
): Promise<number> {
	const at = job.signal("b", signal);
	return (await job.world(4, at)) - at;
}

/** How many times the base it takes, in words as well. */
function compare(what: string, pairs: Pairs, unit: string) {
	const ratio = typicalOf(pairs.map(([own, base]) => own / base));
	// Nobody disturbs the best: where others take the processors, all else says more of them.
	const [least, leastOfBase] = [0, 1].map((side) =>
		Math.min(...pairs.map((pair) => pair[side] as number)),
	) as [number, number];
	const [own, base] = [0, 1].map((side) =>
		medianOf(pairs.map((pair) => pair[side] as number)).toPrecision(3),
	);
	const words = `${what}: ${own} ${unit}, base ${base} ${unit}, ${ratio.toFixed(2)} ×`;
	const isSlow = ratio > MOST && least > MOST * leastOfBase;
	return { isSlow, words };
}

/** Measures until nothing is slow, or often enough; resolves with what is slow. */
async function untilFast(
	measure: () => Promise<readonly ReturnType<typeof compare>[]>,
): Promise<readonly string[]> {
	for (let time = 1; ; time += 1) {
		const compared = await measure();
		console.log(compared.map(({ words }) => words).join("\n"));
		const slow = compared.filter(({ isSlow }) => isSlow);
		if (slow.length === 0 || time === TRIES)
			return slow.map(({ words }) => words);
	}
}

/** Each of the two in turn, and the other one first the next time, also after those that are there. */
async function inTurns<Side, T>(
	sides: readonly [own: Side, base: Side],
	rounds: number,
	measure: (side: Side) => T | Promise<T>,
	before = 0,
): Promise<(readonly [own: T, base: T])[]> {
	const pairs: (readonly [own: T, base: T])[] = [];
	const [own, base] = sides;
	for (let round = 0; round < rounds; round += 1) {
		if ((before + round) % 2 === 0) {
			const first = await measure(own);
			pairs.push([first, await measure(base)]);
		} else {
			const first = await measure(base);
			pairs.push([await measure(own), first]);
		}
	}
	return pairs;
}

describe(`no figure is ${MOST} times the base's`, () => {
	const programs = () => {
		const { worker } = compilePrograms(scratch);
		return { worker, scratch, isQuick: true, isSmoke: false };
	};

	test("J17, A2, A9, T5: two nodes", {
		timeout: LONGEST_MS,
	}, async (context) => {
		context.skip(whyNoBase !== undefined, whyNoBase);
		const etcd = await Etcd.start(scratch);
		const place = programs();
		const pair = new Pair(etcd.endpoint, place);
		try {
			await pair.form();
			const slow = await untilFast(async () => {
				await pair.measure();
				const store = Number(await etcdTells.measure(place, { etcd }));
				console.log(`the bare store tells in ${store.toFixed(1)} ms`);
				return Object.entries(pair.samples).map(([time, pairs]) =>
					compare(TITLES[time as Time], pairs, "ms"),
				);
			});
			expect(slow).toEqual([]);
		} finally {
			pair.close();
			await etcd.stop();
		}
	});

	test.for(Object.entries(ROUNDS))(
		"%s",
		{ timeout: LONGEST_MS },
		async ([name, rounds], context) => {
			context.skip(whyNoBase !== undefined, whyNoBase);
			const [figure] = FIGURES.filter((one) => one.name === name);
			if (figure === undefined) throw new Error(`there is no figure ${name}`);
			const place = programs();
			const session = await figure.open?.(place);
			const sides = [elasticRun(), elasticRun(baseCli)] as const;
			// Of what is the better the more it is, the inverse.
			const sign = figure.goal.atLeast === undefined ? 1 : -1;
			const pairs: (readonly [number, number])[] = [];
			try {
				const slow = await untilFast(async () => {
					const more = await inTurns(
						sides,
						rounds,
						async (side) => {
							const value = (session ?? figure).measure?.(side, place);
							return medianOf([(await value) ?? Number.NaN].flat()) ** sign;
						},
						pairs.length,
					);
					pairs.push(...more);
					return [compare(name, pairs, sign < 0 ? "s/MB" : figure.unit)];
				});
				expect(slow).toEqual([]);
			} finally {
				await session?.close();
			}
		},
	);

	test(`${AGENTS} agents: the time, and what they ask of the store`, {
		timeout: LONGEST_MS,
	}, async (context) => {
		context.skip(whyNoBase !== undefined, whyNoBase);
		const path = join(base, "bench/scale/scale-run.js");
		const earlier: { ScaleRun: typeof ScaleRun } = await import(
			pathToFileURL(path).href
		);
		const runs = [new ScaleRun(AGENTS), new earlier.ScaleRun(AGENTS)] as const;
		const all: Awaited<ReturnType<typeof restarts>> = [];
		const restarts = () =>
			inTurns(runs, AGENTS_ROUNDS, async (run) => {
				const { ms, costs } = await run.restart();
				return { ms, ...costs };
			});
		try {
			for (const run of runs) await run.open(scratch);
			await restarts();
			const slow = await untilFast(async () => {
				all.push(...(await restarts()));
				return COSTS.map((cost) => {
					const pairs = all.map(
						([own, base]) => [own[cost], base[cost]] as const,
					);
					return compare(`${AGENTS} agents, ${cost}`, pairs, "");
				});
			});
			expect(slow).toEqual([]);
		} finally {
			await Promise.all(runs.map((run) => run.close()));
		}
	});
});
