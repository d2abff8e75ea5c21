/** A rate limit: a burst, and a number per second in the long run. The caller passes the time, in milliseconds. */
export class Allowance {
	private unused: number;
	private countedAt: number | undefined;

	constructor(
		private readonly perSecond: number,
		private readonly atMost: number,
	) {
		this.unused = atMost;
	}

	/** Takes one if one is left; returns whether it did. If the clock is set back, counting only starts again. */
	takeOne(now: number): boolean {
		const elapsedMs = Math.max(0, now - (this.countedAt ?? now));
		this.countedAt = now;
		const grown = this.unused + (elapsedMs / 1000) * this.perSecond;
		this.unused = Math.min(this.atMost, grown);
		if (this.unused < 1) return false;
		this.unused -= 1;
		return true;
	}
}
