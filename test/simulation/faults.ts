import type { Link } from "./link.js";
import type { Moment } from "./observer.js";
import { Random } from "./random.js";
import type { SimAgent } from "./sim-agent.js";
import type { Simulation } from "./simulation.js";

/** One kind of fault, done to an agent that lives. */
type Fault = (run: Simulation, agent: SimAgent) => void;

/** Longer than a lease lives, or shorter. */
function aWhile({ random, leaseTtlMs }: Simulation): number {
	return random.chance(0.5)
		? random.between(100, 0.8 * leaseTtlMs)
		: random.between(0.8 * leaseTtlMs, 2.4 * leaseTtlMs);
}

/** After this time somebody starts the agent's node again. */
function startAgain(run: Simulation, agent: SimAgent, latestMs: number): void {
	run.after(run.random.between(50, latestMs), () =>
		run.startAgent(agent.history.nodeId),
	);
}

const CUT_OFF = { requestsLost: true, answersLost: true };

/** What only one agent suffers. */
const AGENT_FAULTS = {
	crash: (run, agent) => {
		agent.crash();
		if (run.random.chance(0.7)) startAgain(run, agent, 12_000);
	},
	freeze: (run, agent) => {
		agent.freeze(aWhile(run));
		if (run.random.chance(0.2)) startAgain(run, agent, 3_000);
	},
	replaceFrozen: (run, agent) => {
		agent.freeze(run.leaseTtlMs * run.random.between(1.5, 4));
		startAgain(run, agent, 2 * run.leaseTtlMs);
	},
	sleep: (run, agent) => agent.sleep(aWhile(run)),
	/** A machine that sleeps for a part of its lease's time, and finds no store when it wakes. */
	wakesCutOff: (run, agent) => {
		agent.sleep(run.leaseTtlMs * run.random.between(0.2, 0.5));
		run.disturb(agent, 2.5 * run.leaseTtlMs, CUT_OFF);
	},
	cutOff: (run, agent) => run.disturb(agent, aWhile(run), CUT_OFF),
	answersLost: (run, agent) =>
		run.disturb(agent, aWhile(run), { answersLost: true }),
	requestsLost: (run, agent) =>
		run.disturb(agent, aWhile(run), { requestsLost: true }),
	deaf: (run, agent) =>
		run.disturb(agent, run.random.between(500, 8_000), { deaf: true }),
	failing: (run, agent) =>
		run.disturb(agent, aWhile(run), {
			failing: run.random.between(0.1, 0.7),
		}),
	late: (run, agent) =>
		run.disturb(agent, run.random.between(2_000, 12_000), {
			failing: run.random.between(0.2, 0.6),
			late: true,
		}),
	slow: (run, agent) =>
		run.disturb(agent, aWhile(run), {
			slowness: run.random.between(5, 15),
		}),
	resets: (run, agent) => {
		let delayMs = 0;
		for (let count = run.random.integer(1, 10); count > 0; count--) {
			run.after(delayMs, () => agent.breakWatches());
			delayMs += run.random.between(100, 400);
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
	failure: (_, agent) => agent.failWorker(),
	lateComer: (run) => run.startAgent(),
	threeAtOnce: (run) => {
		for (let count = 0; count < 3; count++) {
			run.after(run.random.between(0, 300), () => run.startAgent());
		}
	},
	twins: (run) => {
		const nodeId = run.newNode();
		run.startAgent(nodeId);
		run.after(run.random.between(0, 150), () => run.startAgent(nodeId));
	},
} satisfies Record<string, Fault>;

/** A fault at a moment at which it hurts. */
const AMBUSHES: Readonly<Record<string, Fault>> = {
	/** The coordinator is lost between any two of its writes. */
	amongWrites: (run) => {
		const { crash, freeze, answersLost, cutOff } = AGENT_FAULTS;
		const fault = run.random.pick([crash, freeze, answersLost, cutOff]);
		atNthWrite(run, run.random.integer(1, 6), (by) => fault(run, by));
	},
	/** While the barrier is waited for. */
	amongStops: (run) => strikeAfter(run, "left", 1_000),
	/** What the coordinator writes of the next round is made late, and it tries again meanwhile. */
	lateLift: (run) =>
		run.at("left", (by) =>
			run.disturb(by, run.random.between(4_000, 12_000), {
				failing: run.random.between(0.2, 0.6),
				late: true,
			}),
		),
	/** While workers start. */
	amongStarts: (run) => strikeAfter(run, "lifted", 200),
	/** It does not learn for a while that another has taken its place. */
	coordinatorCutOff: (run) => {
		const agent = run.coordinator();
		if (agent === undefined) return;
		const durationMs = run.leaseTtlMs * run.random.between(1, 3);
		run.disturb(agent, durationMs, {
			answersLost: true,
			requestsLost: run.random.chance(0.5),
		});
	},
	/** It wakes up when another has taken its place. */
	coordinatorFrozen: (run) => {
		run.coordinator()?.freeze(run.leaseTtlMs * run.random.between(0.9, 3));
	},
};

function atNthWrite(
	run: Simulation,
	count: number,
	act: (by: SimAgent) => void,
): void {
	run.at("write", (by) => {
		if (count > 1) atNthWrite(run, count - 1, act);
		else act(by);
	});
}

/** One agent or two meet with something else, soon after the moment. */
function strikeAfter(run: Simulation, moment: Moment, latestMs: number): void {
	const { crash, freeze, cutOff, stop, lateComer, failure } = AGENT_FAULTS;
	const faults = [crash, freeze, cutOff, stop, lateComer, failure];
	run.at(moment, () => {
		for (let count = run.random.integer(1, 2); count > 0; count--) {
			run.after(run.random.between(0, latestMs), () => {
				const agent = run.random.pick(run.living());
				const fault = run.random.pick(faults);
				if (agent !== undefined) fault?.(run, agent);
			});
		}
	});
}

/** The part of the runs in which data may be lost: hardly anything of such a run is left to be looked at. */
const WIPED_PART = 0.1;

const STORE_FAULTS: Readonly<Record<string, Fault>> = {
	storeDown: (run) => {
		const durationMs = aWhile(run);
		for (const agent of run.living()) {
			run.disturb(agent, durationMs, CUT_OFF);
		}
	},
	/** Some agents reach the store, the others do not, or in one direction only. */
	partition: (run) => {
		const durationMs = aWhile(run);
		const oneWay = run.random.pick<Partial<Link>>([
			{ requestsLost: true },
			{ answersLost: true },
			CUT_OFF,
		]);
		for (const agent of run.living()) {
			if (run.random.chance(0.5)) run.disturb(agent, durationMs, oneWay);
		}
	},
	storeRestarts: (run) => run.store.restart(run.random.between(500, 4_000)),
	storeFrozen: (run) => run.store.freeze(aWhile(run)),
	leaderLost: (run) => run.store.loseLeader(run.random.between(1_300, 2_300)),
	compaction: (run) => run.store.compact(),
	noCoordinator: (run) => run.store.deleteCoordinator(),
	noRecord: (run, { history }) => {
		if (run.random.chance(0.3)) run.store.deleteRecord(history.nodeId);
	},
	wipe: (run) => {
		if (!run.random.chance(WIPED_PART)) return;
		if (run.random.chance(0.3)) run.store.deleteRun();
		else run.store.wipe(run.random.between(500, 4_000));
	},
};

/** Every kind of fault. */
export const FAULTS: readonly Fault[] = Object.values({
	...AGENT_FAULTS,
	...AMBUSHES,
	...STORE_FAULTS,
});

/** A seed's notices come from another chance than its other events, so that these stay what they are without notices. */
const OTHER_CHANCE = 1_000_003;

/** Machines of some agents are about to go; some of these notices are withdrawn, some changed. */
export function planNotices(run: Simulation, seed: number): void {
	const random = new Random(seed * OTHER_CHANCE);
	for (let count = random.integer(1, 6); count > 0; count--) {
		run.after(random.between(1_000, run.lastFault), () => {
			const [agent] = random.shuffle(run.living());
			if (agent !== undefined) giveNotice(run, agent, random);
		});
	}
}

function giveNotice(run: Simulation, agent: SimAgent, random: Random): void {
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
