import { Random } from "./random.js";
import type { SimAgent } from "./sim-agent.js";
import type { Simulation } from "./simulation.js";

/** A seed's notices come from another chance than its other events, so that these stay what they are without notices. */
const OTHER_CHANCE = 1_000_003;

/** Machines of some agents are about to go; some of these notices are withdrawn, some changed. */
export function planNotices(run: Simulation, seed: number): void {
	const random = new Random(seed * OTHER_CHANCE);
	for (let count = random.integer(1, 6); count > 0; count--) {
		run.after(random.between(1_000, run.lastFault), () => {
			const [agent] = random.shuffle(run.living());
			if (agent !== undefined) give(run, agent, random);
		});
	}
}

function give(run: Simulation, agent: SimAgent, random: Random): void {
	const source = random.pick(["aws", "slurm"] as const) ?? "aws";
	const inMs = random.chance(0.1) ? undefined : random.between(0, 90_000);
	agent.notice(source, inMs);
	const later = random.between(10, 20_000);
	const isWithdrawn = random.chance(0.2);
	if (isWithdrawn) run.after(later, () => agent.withdraw(source));
	else if (random.chance(0.2)) {
		run.after(later, () => agent.notice(source, random.between(0, 10_000)));
	}
}
