import type { Clock } from "../base/clock.js";
import { ElasticRunError } from "../base/errors.js";
import type { Logger } from "../base/logger.js";
import type { AgentConfig } from "../config/agent-config.js";
import { durationInWords } from "../config/parse/scalars.js";

const SAY_EVERY_MS = 10_000;

export interface OtherRunOptions {
	readonly config: Pick<AgentConfig, "runId" | "rendezvous">;
	readonly clock: Clock;
	readonly log: Pick<Logger, "warn">;
}

/** The wait for the end of another run at this run's endpoint, at most for the join time-out. */
export class OtherRun {
	private readonly until: number;
	private sayAt: number;

	constructor(private readonly options: OtherRunOptions) {
		const { clock, config } = options;
		this.sayAt = clock.now();
		this.until = this.sayAt + config.rendezvous.joinTimeoutMs;
	}

	/**
	 * Call it with each look that finds the other run.
	 * @param words which run uses which endpoint
	 * @throws ElasticRunError RENDEZVOUS_FAILED when the join time-out is over
	 */
	see(words: string): void {
		const { clock, config, log } = this.options;
		const { runId, rendezvous } = config;
		const limit = `join_timeout (${durationInWords(rendezvous.joinTimeoutMs)})`;
		const fix =
			"for both at once give another port in --rdzv-endpoint, and if they are one run the same --rdzv-id, on every node";
		if (clock.now() >= this.until) {
			throw new ElasticRunError(
				"RENDEZVOUS_FAILED",
				`${words}, and has not ended within ${limit}: ${fix}`,
			);
		}
		if (clock.now() < this.sayAt) return;
		this.sayAt = clock.now() + SAY_EVERY_MS;
		log.warn(
			`${words}: run ${runId} waits for its end, up to ${limit}; ${fix}`,
		);
	}
}
