import type { RoundView } from "../rendezvous/membership.js";
import type { AgentConfig } from "./configuration/agent-config.js";
import type { Logger } from "./logger.js";

/**
 * Says once that this node comes to a run that goes on without it. Where the
 * run's id follows from the command, somebody who started the same command
 * again may have meant a run of its own; where somebody gave it, a node that
 * waits for its turn is usual, and only a spare is worth a word.
 */
export class NewcomerNotice {
	private isDone: boolean;

	/** @param isReturning whether this node was a member before */
	constructor(
		private readonly config: Pick<
			AgentConfig,
			"runId" | "isRunIdDerived" | "maxNodes"
		>,
		isReturning: boolean,
		private readonly log: Pick<Logger, "warn">,
	) {
		this.isDone = isReturning;
	}

	see({ round, seat }: RoundView): void {
		if (this.isDone || round.planId === null) return;
		const { runId, isRunIdDerived, maxNodes } = this.config;
		const isOutside = seat === null && round.outcome === null;
		// One that fits in is about to get its seat.
		if (isOutside && !isRunIdDerived && round.seats < maxNodes) return;
		this.isDone = true;
		if (!isOutside) return;
		this.log.warn(
			isRunIdDerived
				? `run ${runId} is under way without this node, which waits for a place in it; if a run of its own was meant, give it another --run-id`
				: `run ${runId} has as many nodes as --nnodes allows (${maxNodes}): this node is a spare, and waits until one of them goes`,
		);
	}
}
