import { AGENT_FAULTS } from "./agent-faults.js";
import type { Fault, FaultyRun } from "./faulty-run.js";
import type { Moment } from "./observer.js";
import type { SimAgent } from "./sim-agent.js";

/** A fault at a moment at which it hurts. */
export const AMBUSHES: Readonly<Record<string, Fault>> = {
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
	run: FaultyRun,
	count: number,
	act: (by: SimAgent) => void,
): void {
	run.at("write", (by) => {
		if (count > 1) atNthWrite(run, count - 1, act);
		else act(by);
	});
}

/** One agent or two meet with something else, soon after the moment. */
function strikeAfter(run: FaultyRun, moment: Moment, latestMs: number): void {
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
