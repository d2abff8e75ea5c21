import type { WorkerExit } from "./worker.js";

/** A worker that fails so soon after a warm start may fail because of it, in milliseconds. */
const QUICK_MS = 1_000;

/** The rounds in a row whose warm workers failed at once. */
export class QuickRounds {
	private readonly rounds = new Set<string | undefined>();

	get count(): number {
		return this.rounds.size;
	}

	/** A worker that was started warm has ended. */
	noteEnd(
		{ uptimeMs, code, signalledByAgent }: WorkerExit,
		round: string | undefined,
	): void {
		if (uptimeMs >= QUICK_MS || code === 0) {
			// In a round that has failed at once, its peers may take longer to end.
			if (!this.rounds.has(round)) this.rounds.clear();
		} else if (!signalledByAgent) this.rounds.add(round);
	}
}
