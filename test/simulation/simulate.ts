import { hasConverged } from "./checkers/convergence.js";
import { CHECKERS } from "./checkers/index.js";
import { FAULTS, type FaultyRun } from "./faults.js";
import type { History, Violation } from "./history.js";
import { Random } from "./random.js";
import { someHabits, someSpec } from "./settings.js";
import { SimAgent } from "./sim-agent.js";
import { SimServer } from "./sim-server.js";
import { type Link, openLink, SLOWEST_WAY_MS } from "./sim-store.js";
import type { SimMachine, WorkerHabits } from "./sim-workers.js";
import { Timeline } from "./timeline.js";

/** How long a run may take to come to rest once nothing disturbs it. */
const PATIENCE_MS = 200_000;
const CHECK_EVERY_MS = 4_000;

export interface SimulatedRun {
	readonly seed: number;
	readonly violations: readonly Violation[];
	readonly history: History;
	/** Everything that happened, one line each. */
	readonly trace: readonly TraceLine[];
	readonly events: number;
}

export interface TraceLine {
	readonly at: number;
	readonly who: string;
	readonly what: string;
}

/** Plays one run from its seed, and holds what it shows against every invariant. */
export async function simulate(seed: number): Promise<SimulatedRun> {
	const run = new Simulation(seed);
	await run.play();
	const violations = CHECKERS.flatMap((checker) =>
		[...checker.check(run.history)].map((found) => ({
			checker: checker.name,
			...found,
		})),
	).sort((left, right) => left.at - right.at);
	const { history, trace, timeline } = run;
	return { seed, violations, history, trace, events: timeline.happened };
}

class Simulation implements FaultyRun {
	readonly timeline = new Timeline();
	readonly trace: TraceLine[] = [];
	readonly history: History;
	readonly random: Random;
	private readonly agents: SimAgent[] = [];
	private readonly server: SimServer;
	private readonly machine: SimMachine;
	private habits: WorkerHabits;
	private nodes = 0;
	/** When the last fault may begin. */
	private lastFault = 0;

	constructor(seed: number) {
		this.random = new Random(seed);
		const shutdownTimeoutMs = this.random.integer(1, 8) * 1_000;
		this.history = {
			seed,
			spec: someSpec(this.random, shutdownTimeoutMs),
			shutdownTimeoutMs,
			slowestMessageMs: SLOWEST_WAY_MS,
			processes: [],
			workers: [],
			commits: [],
			intrusions: [],
			staleClaims: [],
			quietSince: 0,
			endedAt: 0,
		};
		this.habits = someHabits(this.random);
		const say = (who: string, what: string) => {
			this.trace.push({ at: this.timeline.now, who, what });
		};
		this.server = new SimServer(
			this.timeline,
			this.random,
			this.history,
			say,
			"simulated",
		);
		this.machine = {
			timeline: this.timeline,
			random: this.random,
			history: this.history,
			habits: () => this.habits,
			say,
		};
	}

	async play(): Promise<void> {
		const { random, timeline, history } = this;
		const { minNodes, maxNodes } = history.spec;
		const count = random.integer(
			random.chance(0.9) ? minNodes : 1,
			maxNodes + 2,
		);
		for (let index = 0; index < count; index++) {
			this.after(random.between(0, 3_000), () => this.startAgent());
		}
		this.planFaults(random.between(15_000, 60_000));
		history.quietSince = Number.POSITIVE_INFINITY;
		await timeline.runUntil(this.lastFault);
		this.calmDown();
		await timeline.runUntil(history.quietSince);
		const end = timeline.now + PATIENCE_MS;
		do {
			await timeline.runUntil(timeline.now + CHECK_EVERY_MS);
		} while (!hasConverged(history) && timeline.now < end);
		history.endedAt = timeline.now;
	}

	living(): readonly SimAgent[] {
		return this.agents.filter((agent) => agent.isAlive);
	}

	startAgent(nodeId = this.newNode()): void {
		const sharesHost = this.random.chance(0.8);
		const incarnation = `${nodeId}.${this.agents.length}`;
		const agent = new SimAgent({
			machine: this.machine,
			server: this.server,
			nodeId,
			incarnation,
			localWorldSize: this.random.integer(1, 3),
			isDead: (holder) =>
				sharesHost &&
				this.agents.some(
					(other) =>
						other.history.incarnation === holder.incarnation && !other.isAlive,
				),
		});
		this.agents.push(agent);
		void agent.start();
	}

	dropCoordinator(): void {
		this.server.dropCoordinator();
	}

	after(delayMs: number, act: () => void): void {
		this.timeline.after(delayMs, () => {
			if (this.timeline.now <= this.lastFault) act();
		});
	}

	disturb(agent: SimAgent, durationMs: number, change: Partial<Link>): void {
		this.machine.say(
			agent.history.incarnation,
			`${JSON.stringify(change)} for ${Math.round(durationMs)} ms`,
		);
		Object.assign(agent.link, change);
		const from = this.timeline.now;
		agent.history.disturbed.push({ from, to: from + durationMs });
		this.timeline.after(durationMs, () => {
			// Of faults that overlap, the last to end ends them all.
			const over = agent.history.disturbed.every(
				({ to }) => to <= this.timeline.now,
			);
			if (over) Object.assign(agent.link, openLink());
		});
	}

	private planFaults(until: number): void {
		const { random } = this;
		this.lastFault = until;
		const kinds = Object.values(FAULTS).filter(() => random.chance(0.5));
		const count = random.integer(0, 12);
		for (let index = 0; index < count; index++) {
			this.after(random.between(1_000, until), () => {
				const agent = random.pick(this.living());
				const fault = random.pick(kinds);
				if (agent !== undefined) fault?.(this, agent);
			});
		}
	}

	/** No more faults: workers end well, or hang and do nothing else. */
	private calmDown(): void {
		this.machine.say("run", "nothing is disturbed from here on");
		this.habits = {
			...this.habits,
			fails: 0,
			cannotStart: 0,
			ignoresTerm: 0,
			leavesChild: 0,
		};
		const ends = this.history.processes.flatMap(({ disturbed, frozen }) => [
			...disturbed.map(({ to }) => to),
			...frozen.map(({ to }) => to),
		]);
		this.history.quietSince = Math.max(this.timeline.now, ...ends);
	}

	newNode(): string {
		this.nodes += 1;
		return `node-${this.nodes}`;
	}
}
