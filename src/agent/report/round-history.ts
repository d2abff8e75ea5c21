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

	/** The round's end was seen; its workers may still be ending. */
	ended(reason: string, now: number): void {
		const last = this.told.at(-1);
		if (last === undefined || this.startedAt === undefined) return;
		this.told[this.told.length - 1] = {
			...last,
			ranMs: now - this.startedAt,
			ending: reason,
		};
		this.startedAt = undefined;
		this.endedAt = now;
	}

	get rounds(): readonly RoundStory[] {
		return this.told;
	}
}
