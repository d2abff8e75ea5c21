import { hasConverged } from "./checkers/convergence.js";
import { checkersFor } from "./checkers/index.js";
import { planNotices } from "./faults.js";
import { letGuardsSpeak } from "./guard-words.js";
import type { History, Violation } from "./history.js";
import { linked, planOutages, planRarities } from "./outages.js";
import { Random } from "./random.js";
import { type RunShape, someShape } from "./settings.js";
import { SIM_POLICIES } from "./sim-policies.js";
import { Simulation, type TraceLine } from "./simulation.js";

export type { TraceLine } from "./simulation.js";

/** How long a run may take to come to rest once nothing disturbs it. */
const PATIENCE_MS = 200_000;
const CHECK_EVERY_MS = 1_000;

export interface More {
	/** Machines may say that they will go. */
	readonly notices?: boolean | undefined;
	/** Agents have links, and the store is away for long. */
	readonly links?: boolean | undefined;
}

export interface SimulatedRun {
	readonly seed: number;
	readonly violations: readonly Violation[];
	readonly history: History;
	/** Everything that happened, one line each. */
	readonly trace: readonly TraceLine[];
	readonly events: number;
}

/**
 * Plays one run from its seed, and holds what it shows against every invariant.
 * @param more what else may happen, beside what does in all runs
 */
export async function simulate(
	seed: number,
	more: More = {},
): Promise<SimulatedRun> {
	const random = new Random(seed);
	const plain = someShape(random);
	const shape = more.links ? linked(plain, seed) : plain;
	const run = new Simulation(seed, random, shape);
	run.planFaults(random.between(15_000, 60_000));
	if (more.notices) planNotices(run, seed);
	if (more.links) {
		planOutages(run, seed);
		planRarities(run, seed);
	}
	letGuardsSpeak(run, seed);
	await play(run, shape);
	return judge(run);
}

async function play(run: Simulation, shape: RunShape): Promise<void> {
	const { random, timeline, history } = run;
	for (let index = 0; index < shape.agents; index++) {
		run.after(random.between(0, 3_000), () => run.startAgent());
	}
	await timeline.runUntil(run.lastFault);
	history.quietSince = run.calmDown();
	await timeline.runUntil(history.quietSince);
	const end = timeline.now + PATIENCE_MS;
	do {
		await timeline.runUntil(timeline.now + CHECK_EVERY_MS);
	} while (!hasConverged(history) && timeline.now < end);
	if (hasConverged(history)) history.restedAt = timeline.now;
	history.endedAt = timeline.now;
}

function judge({ history, trace, timeline }: Simulation): SimulatedRun {
	const violations = checkersFor(SIM_POLICIES[history.policy].family, history)
		.flatMap((checker) =>
			[...checker.check(history)].map((found) => ({
				checker: checker.name,
				...found,
			})),
		)
		.sort((left, right) => left.at - right.at);
	const { seed } = history;
	return { seed, violations, history, trace, events: timeline.happened };
}
