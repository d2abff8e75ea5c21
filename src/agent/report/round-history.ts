import type { RoundStory } from "./run-report.js";

/** The story of this agent's rounds, as it is written down while they happen. */
export class RoundHistory {
	private readonly told: RoundStory[] = [];
	private startedAt: number | undefined;
	private endedAt: number | undefined;

	/** @param now milliseconds on a steady clock; @param wallTime milliseconds since 1970 */
	started(
		round: number,
		worldSize: number,
		now: number,
		wallTime: number,
	): void {
		this.startedAt = now;
		this.told.push({
			round,
			startedAt: wallTime,
			worldSize,
			recoveryMs: this.endedAt === undefined ? null : now - this.endedAt,
			ranMs: null,
			ending: "running",
		});
	}

	/** This node's workers have done their part; the round may go on elsewhere, and end otherwise. */
	finished(reason: string, now: number): void {
		const last = this.told.at(-1);
		if (last === undefined || this.startedAt === undefined) return;
		const ranMs = last.ranMs ?? now - this.startedAt;
		this.told[this.told.length - 1] = { ...last, ranMs, ending: reason };
	}

	/** The round's end was seen; its workers may still be ending. */
	ended(reason: string, now: number): void {
		if (this.startedAt === undefined) return;
		this.finished(reason, now);
		this.startedAt = undefined;
		this.endedAt = now;
	}

	get rounds(): readonly RoundStory[] {
		return this.told;
	}
}
