import type { RoundStory } from "./run-report.js";

/** Records this agent's rounds as they happen. */
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

	/** This node's workers have succeeded. Other nodes may continue the round, and it may end otherwise. */
	finished(reason: string, now: number): void {
		const last = this.told.at(-1);
		if (last === undefined || this.startedAt === undefined) return;
		const ranMs = last.ranMs ?? now - this.startedAt;
		this.told[this.told.length - 1] = { ...last, ranMs, ending: reason };
	}

	/**
	 * Records that the round's end was seen; its workers may still be ending.
	 * @param noticedAfterMs how long before that its first sign was
	 */
	ended(reason: string, now: number, noticedAfterMs = 0): void {
		if (this.startedAt === undefined) return;
		const endedAt = Math.max(this.startedAt, now - noticedAfterMs);
		this.finished(reason, endedAt);
		this.startedAt = undefined;
		this.endedAt = endedAt;
	}

	get rounds(): readonly RoundStory[] {
		return this.told;
	}
}
