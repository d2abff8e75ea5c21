// The promised times, each beside that of an earlier build on the same machine at the same time: absolute times would say
// more of the machine than of the launcher. What the bare store needs is printed with them.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { ClusterJob } from "../../bench/cluster/cluster-job.js";
import { compilePrograms } from "../../bench/compile.js";
import { Etcd } from "../../bench/etcd.js";
import { etcdTells } from "../../bench/floors/etcd-floors.js";

/** The build to compare with. Where a change must take longer, it becomes the base. */
const BASE = "3e05a081d61d";
/** Twice as slow is red: half of that is left to chance. */
const MOST = 1.5;
/** What is disturbed by others is measured longer. */
const TRIES = 3;
/** How often each happens in a try. */
const FAILURES = 10;
const LEAVES = 4;
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

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "promised-times-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** In words why there is no base to compare with. */
function makeBase(directory: string): string | undefined {
	const git = ["-C", ROOT, "archive", "-o", `${directory}.tar`, BASE];
	try {
		execFileSync("git", git, { stdio: "pipe" });
	} catch (error) {
		return `there is no commit ${BASE} here: ${error}`;
	}
	mkdirSync(directory);
	execFileSync("tar", ["-x", "-f", `${directory}.tar`, "-C", directory]);
	symlinkSync(join(ROOT, "node_modules"), join(directory, "node_modules"));
	execFileSync(process.execPath, ["scripts/build.js", "--no-types"], {
		cwd: directory,
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
		const cli = join(scratch, "base/dist/bin/elastic-run.js");
		const start = (launcher: { name: string; cli?: string }) =>
			new ClusterJob(launcher, settings, place);
		this.jobs = [
			start({ name: "elastic-run" }),
			start({ name: "elastic-run", cli }),
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

/** How many times the base each time takes, and a line of words for each. */
function compare({ samples }: Pair) {
	return Object.entries(samples).map(([time, pairs]) => {
		const ratio = typicalOf(pairs.map(([own, base]) => own / base));
		const [own, base] = [0, 1].map((side) =>
			medianOf(pairs.map((pair) => pair[side] as number)).toFixed(1),
		);
		const words = `${TITLES[time as Time]}: ${own} ms, base ${base} ms, ${ratio.toFixed(2)} ×`;
		return { time, ratio, words };
	});
}

/** The median of the means of all pairs of ratios: chance moves it less than their median, and outliers hardly. */
function typicalOf(ratios: readonly number[]): number {
	return medianOf(
		ratios.flatMap((ratio, index) =>
			ratios.slice(index).map((other) => Math.sqrt(ratio * other)),
		),
	);
}

function medianOf(samples: readonly number[]): number {
	const sorted = [...samples].sort((left, right) => left - right);
	const middle = sorted.length / 2;
	const pair = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
	return pair.reduce<number>((sum, each = Number.NaN) => sum + each / 2, 0);
}

test(`J17, A2, A9, T5: no promised time is ${MOST} times the base's`, {
	timeout: LONGEST_MS,
}, async (context) => {
	const whyNoBase = makeBase(join(scratch, "base"));
	context.skip(whyNoBase !== undefined, whyNoBase);
	const etcd = await Etcd.start(scratch);
	const { worker } = compilePrograms(scratch);
	const place = { worker, scratch, isQuick: true, isSmoke: false };
	const pair = new Pair(etcd.endpoint, place);
	let slow: string[] = [];
	try {
		await pair.form();
		for (let time = 0; time < TRIES; time += 1) {
			await pair.measure();
			const times = compare(pair);
			slow = times
				.filter(({ ratio }) => ratio > MOST)
				.map(({ words }) => words);
			const store = Number(await etcdTells.measure(place, { etcd }));
			const words = times.map(({ words }) => words).join("\n");
			console.log(`${words}\nthe bare store tells in ${store.toFixed(1)} ms`);
			if (slow.length === 0) break;
		}
	} finally {
		pair.close();
		await etcd.stop();
	}
	expect(slow).toEqual([]);
});
