import { pause } from "../../base/back-off.js";
import type { Clock } from "../../base/clock.js";
import { ElasticRunError } from "../../base/errors.js";
import type { RunSpec } from "../records/run-spec.js";

const LOOK_EVERY_MS = 250;
const SAY_EVERY_MS = 10_000;

/** The wait for the agents of an ended run with another command, at most for the join time-out. */
export class Turn {
	private readonly until: number;
	private sayAt: number;

	constructor(
		private readonly options: {
			readonly clock: Clock;
			readonly spec: Pick<RunSpec, "joinTimeoutMs">;
			readonly onTurn?: ((why: string) => void) | undefined;
		},
	) {
		const now = options.clock.now();
		this.until = now + options.spec.joinTimeoutMs;
		this.sayAt = now;
	}

	/**
	 * Resolves when it is time to look again.
	 * @throws ElasticRunError RENDEZVOUS_FAILED when the join time-out is over
	 */
	async wait(why: string): Promise<void> {
		const { clock, onTurn } = this.options;
		const now = clock.now();
		if (now >= this.until) {
			throw new ElasticRunError(
				"RENDEZVOUS_FAILED",
				`${why}; its agents were still there after join_timeout`,
			);
		}
		if (now >= this.sayAt) {
			this.sayAt = now + SAY_EVERY_MS;
			onTurn?.(
				`${why}; this agent waits until the agents of that run are gone`,
			);
		}
		await pause(clock, LOOK_EVERY_MS);
	}
}
