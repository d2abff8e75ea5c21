import type { Random } from "./random.js";
import type { SimAgent } from "./sim-agent.js";
import type { Link } from "./sim-store.js";

/** What a fault may do to a run. */
export interface FaultyRun {
	readonly random: Random;
	living(): readonly SimAgent[];
	/** Starts an agent, of a node that is new or whose process has ended (or is frozen). */
	startAgent(nodeId?: string): void;
	/** The id of a node that has had no agent. */
	newNode(): string;
	/** Somebody's hand deletes the coordinator's key. */
	dropCoordinator(): void;
	after(delayMs: number, act: () => void): void;
	/** Spoils an agent's way to the store for a time. */
	disturb(agent: SimAgent, durationMs: number, change: Partial<Link>): void;
}

/** One kind of fault, done to an agent that lives. */
type Fault = (run: FaultyRun, agent: SimAgent) => void;

/** Longer than a lease lives, or shorter. */
function aWhile(random: Random): number {
	return random.chance(0.5)
		? random.between(100, 4_000)
		: random.between(4_000, 12_000);
}

export const FAULTS: Readonly<Record<string, Fault>> = {
	crash: (run, agent) => {
		agent.crash();
		if (run.random.chance(0.7)) {
			run.after(run.random.between(50, 12_000), () =>
				run.startAgent(agent.history.nodeId),
			);
		}
	},
	freeze: (run, agent) => {
		agent.freeze(aWhile(run.random));
		if (run.random.chance(0.2)) {
			run.after(run.random.between(50, 3_000), () =>
				run.startAgent(agent.history.nodeId),
			);
		}
	},
	cutOff: (run, agent) =>
		run.disturb(agent, aWhile(run.random), {
			requestsLost: true,
			answersLost: true,
		}),
	answersLost: (run, agent) =>
		run.disturb(agent, aWhile(run.random), { answersLost: true }),
	deaf: (run, agent) =>
		run.disturb(agent, run.random.between(500, 8_000), { deaf: true }),
	failing: (run, agent) =>
		run.disturb(agent, aWhile(run.random), {
			failing: run.random.between(0.1, 0.7),
		}),
	late: (run, agent) =>
		run.disturb(agent, run.random.between(2_000, 12_000), {
			failing: run.random.between(0.2, 0.6),
			late: true,
		}),
	slow: (run, agent) =>
		run.disturb(agent, aWhile(run.random), {
			slowness: run.random.between(5, 15),
		}),
	storeDown: (run) => {
		const durationMs = aWhile(run.random);
		for (const agent of run.living()) {
			run.disturb(agent, durationMs, { requestsLost: true, answersLost: true });
		}
	},
	stop: (run, agent) => {
		agent.askToStop();
		if (run.random.chance(0.3)) {
			run.after(run.random.between(10, 2_000), () => {
				if (agent.isAlive) agent.askToStop();
			});
		}
	},
	lateComer: (run) => run.startAgent(),
	twins: (run) => {
		const nodeId = run.newNode();
		run.startAgent(nodeId);
		run.after(run.random.between(0, 150), () => run.startAgent(nodeId));
	},
	noCoordinator: (run) => run.dropCoordinator(),
};
