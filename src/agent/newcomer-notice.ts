import type { RoundView } from "../rendezvous/membership.js";
import type { AgentConfig } from "./configuration/agent-config.js";
import type { Logger } from "./logger.js";

/**
 * Says once that this node comes to a run that goes on without it. Where the
 * run's id follows from the command, somebody who started the same command
 * again may have meant a run of its own.
 */
export class NewcomerNotice {
	private isDone: boolean;

	/** @param isReturning whether this node was a member before */
	constructor(
		private readonly config: Pick<AgentConfig, "runId" | "isRunIdDerived">,
		isReturning: boolean,
		private readonly log: Pick<Logger, "warn">,
	) {
		this.isDone = isReturning || !config.isRunIdDerived;
	}

	see({ round, seat }: RoundView): void {
		if (this.isDone || round.planId === null) return;
		this.isDone = true;
		if (seat !== null || round.outcome !== null) return;
		this.log.warn(
			`run ${this.config.runId} is under way without this node, which waits for a place in it; if a run of its own was meant, give it another --run-id`,
		);
	}
}
