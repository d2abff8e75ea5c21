import type { NoticeSource } from "../../src/model/notice.js";
import type { ProcessHistory, RoundCommit } from "./history.js";
import { Random } from "./random.js";
import { NEVER_LISTENS, type RunShape } from "./settings.js";
import type { SimAgent } from "./sim-agent.js";
import { Simulation } from "./simulation.js";

export const NOTICES = 100;
const AGENTS = 6;
const SEATS = 4;
/** The longest time between two notices, in milliseconds. */
const APART_MS = 15_000;
const LONGEST_WINDOW_MS = 90_000;
/** All that was announced has happened by then. */
const REST_MS = 150_000;

const SOURCES = [
	...(["aws", "gcp", "azure", "slurm", "kubernetes", "file"] as const),
	...(["lifetime", "command", "chaos"] as const),
] satisfies readonly NoticeSource[];

interface ManyNotices {
	readonly last: RoundCommit | undefined;
	readonly processes: readonly ProcessHistory[];
	readonly given: number;
}

/** A run in which nothing happens but that machines say that they will go; others come in their places. */
export async function playManyNotices(
	seed: number,
	policy: "hard" | "soft",
): Promise<ManyNotices> {
	const random = new Random(seed);
	const run = new Simulation(seed, random, shapeOf(policy));
	run.lastFault = NOTICES * APART_MS + REST_MS;
	for (let index = 0; index < AGENTS; index++) {
		run.after(random.between(0, 1_000), () => run.startAgent());
	}
	let given = 0;
	let at = 5_000;
	for (let count = 0; count < NOTICES; count++) {
		at += random.between(100, APART_MS);
		run.after(at, () => {
			// Some say it twice, some while they wait, some all at once.
			const atOnce = random.chance(0.05) ? SEATS : 1;
			for (const agent of random.shuffle(run.living()).slice(0, atOnce)) {
				given += 1;
				give(run, agent, random);
			}
		});
	}
	await run.timeline.runUntil(run.lastFault);
	const { commits, processes } = run.history;
	return { last: commits.at(-1), processes, given };
}

function give(run: Simulation, agent: SimAgent, random: Random): void {
	const source = random.pick(SOURCES) ?? "aws";
	const origin = random.chance(0.3) ? "one of several" : undefined;
	const inMs = random.chance(0.1)
		? undefined
		: random.between(-5_000, LONGEST_WINDOW_MS);
	agent.notice(source, inMs, origin);
	const later = random.between(10, 20_000);
	const sooner = random.between(0, 10_000);
	const change = random.pick(["none", "none", "none", "gone", "sooner"]);
	if (change === "none") return;
	run.after(later, () =>
		change === "gone"
			? agent.withdraw(source, origin)
			: agent.notice(source, sooner, origin),
	);
}

function shapeOf(policy: "hard" | "soft"): RunShape {
	return {
		spec: {
			...{ version: 1, minNodes: 1, maxNodes: SEATS, policy, maxRestarts: 3 },
			...{ joinTimeoutMs: 600_000, lastCallTimeoutMs: 500 },
			...{ settleTimeoutMs: 10_000, leaseTtlMs: 5_000 },
		},
		policy,
		shutdownTimeoutMs: 5_000,
		pauseTimeoutMs: 10_000,
		habits: {
			...{ fails: 0, hangs: 1, ignoresTerm: 0.2, leavesChild: 0 },
			...{ cannotStart: 0, sticks: 0, ...NEVER_LISTENS },
			...(policy === "soft" && { listens: 1 }),
			...{ shortestMs: 0, longestMs: 0 },
		},
		agents: AGENTS,
		roles: ["default"],
		batchSize: 100,
		supervised: true,
		doublesHints: false,
	};
}
