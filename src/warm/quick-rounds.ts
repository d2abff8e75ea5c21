import type { WorkerExit } from "../processes/index.js";

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

	/** A worker that was started cold has ended. If it fails as early, the warmth is not what fails. */
	noteColdEnd(
		{ uptimeMs, code, signalledByAgent }: WorkerExit,
		earlyMs = QUICK_MS,
	): void {
		const isEarly = uptimeMs < earlyMs && code !== 0 && !signalledByAgent;
		if (isEarly) this.rounds.clear();
	}
}
