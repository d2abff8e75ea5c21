import { Random } from "./random.js";
import type { SimAgent } from "./sim-agent.js";
import type { Simulation } from "./simulation.js";
import { QUIET } from "./timeline.js";

/** In one of so many runs guards speak; the others play as if nobody heard them. */
const ONE_IN = 4;
/** The words' chance is another than that of a run's other events. */
const OTHER_CHANCE = 1_000_033;
/** A guard looks so often for what it must end, and so many times at most. */
const SWEEP_MS = 50;
const SWEEPS = 100;
/** The longest that a word may be under way, in milliseconds. */
const LATEST_MS = { mostly: 50, late: 5_000, veryLate: 60_000 };

/** What meets an agent as it hears a word. */
type Blow = (run: Simulation, hearer: SimAgent, random: Random) => void;

const BLOWS: readonly [Blow, ...Blow[]] = [
	(run, hearer, random) => hearer.freeze(aWhile(run, random)),
	(run, hearer, random) => hearer.sleep(aWhile(run, random)),
	(run, hearer, random) =>
		run.disturb(hearer, aWhile(run, random), { requestsLost: true }),
	(run, hearer, random) =>
		run.disturb(hearer, aWhile(run, random), { answersLost: true }),
	(run, hearer, random) =>
		run.disturb(hearer, aWhile(run, random), { failing: 0.5, late: true }),
	(_, hearer) => hearer.askToStop(),
	(_, hearer) => hearer.crash(),
];

/** In some runs more agents are killed, and their guards tell others that no worker is left. */
export function letGuardsSpeak(run: Simulation, seed: number): void {
	if (seed % ONE_IN !== 1) return;
	const random = new Random(seed * OTHER_CHANCE);
	run.onKilled = (dead) => {
		// A guard that is killed together with its agent says nothing.
		if (random.chance(0.9)) sweep(run, dead, random, SWEEPS);
	};
	for (let count = random.integer(1, 4); count > 0; count--) {
		run.after(random.between(2_000, run.lastFault), () => kill(run, random));
	}
}

/** Its node is started again, at once or later, or not at all. */
function kill(run: Simulation, random: Random): void {
	const [first] = random.shuffle(run.living());
	const agent = random.chance(0.4) ? (run.coordinator() ?? first) : first;
	if (agent === undefined) return;
	agent.crash();
	if (random.chance(0.4)) return;
	const latestMs = random.pick([500, 12_000]);
	run.after(random.between(50, latestMs), () =>
		run.startAgent(agent.history.nodeId),
	);
}

/** A guard speaks when it has found nobody any more, and never while the kernel holds a worker. */
function sweep(
	run: Simulation,
	dead: SimAgent,
	random: Random,
	left: number,
): void {
	run.timeline.after(SWEEP_MS, () => {
		const isAnyLeft = run.history.workers.some(
			({ process, endedAt }) => process === dead.history && endedAt === null,
		);
		if (!isAnyLeft) speak(run, dead, random);
		else if (left > 0) sweep(run, dead, random, left - 1);
		return QUIET;
	});
}

/** A word may get lost, or come twice. */
function speak(run: Simulation, dead: SimAgent, random: Random): void {
	const words = random.pick([0, 1, 1, 1, 1, 2]);
	for (let count = 0; count < words; count++) {
		const latest = random.pick([
			...["mostly", "mostly", "mostly", "mostly"],
			...["late", "veryLate"],
		] as const);
		const delayMs = random.between(1, LATEST_MS[latest ?? "mostly"]);
		run.timeline.after(delayMs, () => arrive(run, dead, random));
	}
}

/** Mostly the coordinator hears it; where that is not known or dead, another agent; at times two. */
function arrive(run: Simulation, dead: SimAgent, random: Random): void {
	const coordinator = random.chance(0.8) ? run.coordinator() : undefined;
	const others = random
		.shuffle(run.living())
		.filter((agent) => agent !== coordinator);
	const all = coordinator === undefined ? others : [coordinator, ...others];
	for (const hearer of all.slice(0, random.chance(0.2) ? 2 : 1)) {
		const isStruck = random.chance(0.2);
		if (isStruck) run.after(0, () => random.pick(BLOWS)(run, hearer, random));
		hearer.hear(dead.history);
	}
}

function aWhile({ leaseTtlMs }: Simulation, random: Random): number {
	return leaseTtlMs * random.between(0.02, 2);
}
