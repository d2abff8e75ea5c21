/** A rate limit: a burst, and a number per second in the long run. The caller passes the time, in milliseconds. */
export class Allowance {
	private readonly perSecond: number;
	private readonly atMost: number;
	private unused: number;
	private countedAt: number | undefined;

	constructor(perSecond: number, atMost: number) {
		this.perSecond = perSecond;
		this.atMost = atMost;
		this.unused = atMost;
	}

	/** How many are left now. If the clock is set back, counting only starts again. */
	left(now: number): number {
		const elapsedMs = Math.max(0, now - (this.countedAt ?? now));
		this.countedAt = now;
		if (this.unused < this.atMost) {
			const grown = this.unused + (elapsedMs / 1000) * this.perSecond;
			this.unused = Math.min(this.atMost, grown);
		}
		return Math.floor(this.unused);
	}

	/** Takes this many, or what is left. */
	take(count: number): void {
		this.unused = Math.max(0, this.unused - count);
	}

	/** Takes one if one is left; returns whether it did. */
	takeOne(now: number): boolean {
		if (this.left(now) < 1) return false;
		this.take(1);
		return true;
	}

	/** Adds this many once, even beyond the burst. */
	grant(count: number): void {
		this.unused += count;
	}
}
