import { aWhile, type Fault, startAgain } from "./faulty-run.js";

export const CUT_OFF = { requestsLost: true, answersLost: true };

/** What only one agent suffers. */
export const AGENT_FAULTS = {
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
