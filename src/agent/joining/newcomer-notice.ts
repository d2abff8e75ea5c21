import type { Logger } from "../../base/logger.js";
import type { AgentConfig } from "../../config/index.js";
import type { RoundView } from "../../rendezvous/index.js";

/**
 * Says once that this node joins a run that continues without it. If the run's id derives from the command, a second
 * start of the command may have been meant as a separate run. If the user gave the id, waiting for a turn is normal, and
 * only a spare is worth a message.
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
		// A node that fits in, or may get the seat of one that has gone, is about to get its seat.
		const isFull = round.seats >= maxNodes && round.deprecated < round.synced;
		if (isOutside && !isRunIdDerived && !isFull) return;
		this.isDone = true;
		if (!isOutside) return;
		this.log.warn(
			isRunIdDerived
				? `run ${runId} is under way without this node, which waits for a place in it; if you meant a separate run, give it another --run-id`
				: `run ${runId} has as many nodes as --nnodes allows (${maxNodes}): this node is a spare, and waits until one of them goes`,
		);
	}
}
