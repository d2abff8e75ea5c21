import type { Pace } from "../model/step.js";
import type { CountedSteps } from "./hook-steps.js";
import { paceOf, type Samples, sampled } from "./pace.js";

type Timed = Pick<CountedSteps, "timed" | "ownSeconds">;

/** How long the steps of one worker take until it waits for others: a sample for each look that finds new steps. */
export class OwnTime {
	private samples: Samples = [];
	private before: Timed = { timed: 0, ownSeconds: 0 };

	/** Takes what the hook has counted; its numbers begin again in another process. */
	note(counted: Timed): void {
		const { timed, ownSeconds } = this.before;
		const steps = counted.timed - timed;
		const seconds = counted.ownSeconds - ownSeconds;
		this.before = counted;
		if (steps <= 0 || seconds < 0) return;
		this.samples = sampled(this.samples, seconds / steps);
	}

	/** Undefined before enough samples. */
	get pace(): Pace | undefined {
		return paceOf("own-time", this.samples);
	}

	/** Another round: the times of the last one are no longer of interest. */
	clear(): void {
		this.samples = [];
	}
}
