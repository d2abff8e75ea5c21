import type { ProcessHistory } from "./history.js";
import { Random } from "./random.js";
import { NEVER_LISTENS, type RunShape } from "./settings.js";
import { Simulation } from "./simulation.js";

/** When one worker fails, and until when the restart is looked at, in milliseconds. */
const FAILS_AT_MS = 10_000;
const OVER_AT_MS = 14_000;

/** What one agent asked of the store in one restart round. */
export interface Requests {
	readonly looks: number;
	readonly writes: number;
	readonly isCoordinator: boolean;
}

/** A run in which nothing happens but that one worker fails: what its agents ask of the store for it. */
export async function quietRestart(
	seed: number,
	agents: number,
): Promise<readonly Requests[]> {
	const run = new Simulation(seed, new Random(seed), shapeOf(agents));
	run.lastFault = OVER_AT_MS;
	for (let index = 0; index < agents; index++) {
		run.after(run.random.between(0, 1_000), () => run.startAgent());
	}
	run.after(FAILS_AT_MS, () => run.random.pick(run.living())?.failWorker());
	await run.timeline.runUntil(OVER_AT_MS);
	const { commits, processes } = run.history;
	const last = commits.at(-1);
	if (last?.round.synced !== 2) throw new Error("no restart came");
	return processes.map((process) => requestsOf(process, last.by));
}

function requestsOf(
	{ calls, incarnation }: ProcessHistory,
	coordinator: string,
): Requests {
	const kinds = calls
		.filter(({ at }) => at >= FAILS_AT_MS)
		.map(({ kind }) => kind);
	return {
		looks: kinds.filter((kind) => kind === "look").length,
		writes: kinds.filter((kind) => kind === "write").length,
		isCoordinator: incarnation === coordinator,
	};
}

/** Everybody is needed, nobody fails by itself, and hints come once. */
function shapeOf(agents: number): RunShape {
	return {
		spec: {
			version: 1,
			minNodes: agents,
			maxNodes: agents,
			policy: "hard",
			maxRestarts: 3,
			joinTimeoutMs: 60_000,
			lastCallTimeoutMs: 5_000,
			settleTimeoutMs: 10_000,
			leaseTtlMs: 5_000,
		},
		policy: "hard",
		shutdownTimeoutMs: 5_000,
		pauseTimeoutMs: 60_000,
		habits: {
			fails: 0,
			hangs: 1,
			ignoresTerm: 0,
			leavesChild: 0,
			cannotStart: 0,
			sticks: 0,
			...NEVER_LISTENS,
			shortestMs: 0,
			longestMs: 0,
		},
		agents,
		roles: ["default"],
		batchSize: 100,
		supervised: false,
		doublesHints: false,
	};
}
