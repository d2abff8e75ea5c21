import { RunKeys } from "../../src/rendezvous/records/keys.js";
import { FAULTS } from "./faults.js";
import { emptyHistory, type History } from "./history.js";
import { type Link, openLink } from "./link.js";
import { type Moment, Observer } from "./observer.js";
import { Random } from "./random.js";
import { calmed, type RunShape } from "./settings.js";
import { SimAgent } from "./sim-agent.js";
import { SimEtcd } from "./sim-etcd.js";
import { type SimLinks, SimNetwork } from "./sim-links.js";
import { Peers, type SimMachine } from "./sim-machine.js";
import type { Situation } from "./situations.js";
import { Timeline } from "./timeline.js";
import { TroubledStore } from "./troubled-store.js";

const RUN_ID = "simulated";

/** What happens to links comes from another chance than the rest. */
const LINKS_CHANCE = 1_000_033;

const STRIKES: Readonly<Record<Moment, Situation>> = {
	write: "a fault strikes a coordinator between two of its writes",
	left: "a fault strikes while a barrier is waited for",
	lifted: "a fault strikes while workers start",
};

export interface TraceLine {
	readonly at: number;
	readonly who: string;
	readonly what: string;
}

/** One run: its store, its agents, and what happens to them. */
export class Simulation {
	readonly timeline = new Timeline();
	readonly trace: TraceLine[] = [];
	readonly history: History;
	readonly store: TroubledStore;
	/** Until when anything may disturb it. */
	lastFault = 0;
	/** Told of each agent that has been killed. */
	onKilled: (agent: SimAgent) => void = () => {};
	private readonly etcd: SimEtcd;
	private readonly machine: SimMachine;
	private readonly agents: SimAgent[] = [];
	private ambushes: { moment: Moment; act: (by: SimAgent) => void }[] = [];
	private storeSufferedUntil = 0;
	private habits;
	private nodes = 0;

	constructor(
		seed: number,
		readonly random: Random,
		private readonly shape: RunShape,
	) {
		this.habits = shape.habits;
		this.history = emptyHistory(seed, shape);
		const { timeline, history } = this;
		const say = (who: string, what: string) => {
			this.trace.push({ at: timeline.now, who, what });
		};
		const note = (situation: Situation) => void history.noted.add(situation);
		const keys = new RunKeys(RUN_ID);
		const onMoment = (moment: Moment, by: string) => this.strike(moment, by);
		const telling = { timeline, history, keys, note };
		const observer = new Observer({ ...telling, say, onMoment });
		this.etcd = new SimEtcd(timeline, random, observer);
		this.store = new TroubledStore({
			...telling,
			etcd: this.etcd,
			observer,
			say: (what) => say("store", what),
			onTrouble: (durationMs) => this.disturbAll(durationMs),
		});
		const habits = () => this.habits;
		const { pauseTimeoutMs } = shape;
		const peers = new Peers();
		const network =
			shape.spec.rideOutMs === undefined
				? undefined
				: new SimNetwork(
						timeline,
						new Random(seed * LINKS_CHANCE),
						seed % 2 === 0 ? 2 : Number.POSITIVE_INFINITY,
						[Number.POSITIVE_INFINITY, 2, 3][seed % 3] ?? 2,
						shape.spec.leaseTtlMs + 1_000,
					);
		const told = { timeline, random, history, say, note, network };
		this.machine = { ...told, habits, peers, pauseTimeoutMs };
	}

	/** The time to live of its leases, in milliseconds. */
	get leaseTtlMs(): number {
		return this.shape.spec.leaseTtlMs;
	}

	living(): readonly SimAgent[] {
		return this.agents.filter((agent) => agent.isAlive);
	}

	/** The living agent that coordinates as the store says. */
	coordinator(): SimAgent | undefined {
		const value = this.etcd.data.get(new RunKeys(RUN_ID).coordinator)?.value;
		if (value === undefined) return undefined;
		const { incarnation }: { incarnation?: string } = JSON.parse(value);
		return this.living().find(
			({ history }) => history.incarnation === incarnation,
		);
	}

	/** Starts an agent, of a node that is new or whose process has ended (or is frozen). */
	startAgent(nodeId = this.newNode()): void {
		const { random, shape, agents, timeline } = this;
		const sharesHost = random.chance(0.8);
		const agent = new SimAgent({
			machine: this.machine,
			etcd: this.etcd,
			runId: RUN_ID,
			nodeId,
			incarnation: `${nodeId}.${agents.length}`,
			localWorldSize: random.integer(1, 3),
			role: random.pick(shape.roles) ?? "default",
			batchSize: shape.batchSize,
			doublesHints: shape.doublesHints,
			// A simulated process is named by its start.
			isDead: ({ startTime }) =>
				sharesHost &&
				agents.some(
					(other) => other.history.incarnation === startTime && !other.isAlive,
				),
			onKilled: () => this.onKilled(agent),
			onEnded: ({ exitCode, outcome }) => {
				const mustRestart = shape.supervised && outcome === "left";
				if (mustRestart) this.supervise(nodeId, exitCode);
			},
		});
		agents.push(agent);
		const { now } = timeline;
		if (this.storeSufferedUntil > now) {
			agent.history.disturbed.push({ from: now, to: this.storeSufferedUntil });
		}
		void agent.start();
	}

	/** The id of a node that has had no agent. */
	newNode(): string {
		this.nodes += 1;
		return `node-${this.nodes}`;
	}

	after(delayMs: number, act: () => void): void {
		this.timeline.after(delayMs, () => {
			if (this.timeline.now <= this.lastFault) act();
		});
	}

	/** At the next such moment, with the agent that brings it about. */
	at(moment: Moment, act: (by: SimAgent) => void): void {
		this.ambushes.push({ moment, act });
	}

	/** Spoils an agent's way to the store for a time. */
	disturb(agent: SimAgent, durationMs: number, change: Partial<Link>): void {
		this.machine.say(
			agent.history.incarnation,
			`${JSON.stringify(change)} for ${Math.round(durationMs)} ms`,
		);
		Object.assign(agent.link, change);
		const from = this.timeline.now;
		const to = from + durationMs;
		agent.history.disturbed.push({ from, to });
		agent.linkSpoiltUntil = Math.max(agent.linkSpoiltUntil, to);
		this.timeline.at(to, () => {
			// Of faults that overlap, the last to end ends them all.
			const isOver = agent.linkSpoiltUntil <= this.timeline.now;
			if (isOver) Object.assign(agent.link, openLink());
			// What a connection that was cut has not said, a new one makes good; a deaf one never.
			if (!change.deaf) agent.breakWatches();
		});
	}

	/** For a time these links reach only each other. */
	splitLinks(links: ReadonlySet<SimLinks>, durationMs: number): void {
		const { network } = this.machine;
		if (network === undefined) return;
		network.split = links;
		this.timeline.after(durationMs, () => {
			if (network.split === links) network.split = new Set();
		});
	}

	/** Faults of some kinds, alone or two at a time, until the given time. */
	planFaults(until: number): void {
		const { random } = this;
		this.lastFault = until;
		const kinds = FAULTS.filter(() => random.chance(0.4));
		for (let count = random.integer(0, 12); count > 0; count--) {
			const atOnce = random.chance(0.2) ? 2 : 1;
			this.after(random.between(1_000, until), () => {
				for (const agent of random.shuffle(this.living()).slice(0, atOnce)) {
					random.pick(kinds)?.(this, agent);
				}
			});
		}
	}

	/** For a time what the one says by its links does not reach the other. */
	breakLink(from: SimLinks, to: SimLinks, durationMs: number): void {
		const { network } = this.machine;
		network?.broken.set(from, to);
		this.timeline.after(durationMs, () => network?.broken.delete(from));
	}

	/** No more faults, and workers that behave. Returns when the last disturbance is over. */
	calmDown(): number {
		this.machine.say("run", "nothing is disturbed from here on");
		this.habits = calmed(this.habits);
		this.ambushes = [];
		const ends = this.history.processes.flatMap(({ disturbed, frozen }) => [
			...disturbed.map(({ to }) => to),
			...frozen.map(({ to }) => to),
		]);
		return Math.max(this.timeline.now, ...ends);
	}

	/** What a supervisor does: the process again, or another machine in its place where it has understood that. */
	private supervise(nodeId: string, exitCode: number): void {
		const mustReplace = exitCode === 75 && this.random.chance(0.5);
		this.after(this.random.between(500, 8_000), () =>
			mustReplace ? this.startAgent() : this.startAgent(nodeId),
		);
	}

	private strike(moment: Moment, by: string): void {
		const agent = this.living().find(
			({ history }) => history.incarnation === by,
		);
		if (agent === undefined) return;
		const due = this.ambushes.filter((ambush) => ambush.moment === moment);
		if (due.length === 0) return;
		this.ambushes = this.ambushes.filter((ambush) => ambush.moment !== moment);
		const situation = STRIKES[moment];
		if (situation) this.machine.note(situation);
		this.after(0, () => {
			for (const { act } of due) if (agent.isAlive) act(agent);
		});
	}

	private disturbAll(durationMs: number): void {
		const from = this.timeline.now;
		const to = from + durationMs;
		this.storeSufferedUntil = to;
		for (const { history } of this.living())
			history.disturbed.push({ from, to });
	}
}
