/**
 * Lets rank 0 begin before the other workers of its node. They connect to it, and PyTorch waits for half a second before
 * it tries again where rank 0 does not listen yet.
 */
export class RankZeroFirst {
	private pid: number | undefined;
	private readonly others: (() => void)[] = [];

	/** Calls `start` at once, or once rank 0 has begun. */
	add(pid: number, rank: string | undefined, start: () => void): void {
		if (this.pid !== undefined) {
			this.others.push(start);
			return;
		}
		if (rank === "0") this.pid = pid;
		start();
	}

	/** This worker, whichever it is, has begun or ended. */
	settled(pid: number): void {
		if (pid !== this.pid) return;
		this.pid = undefined;
		for (const start of this.others.splice(0)) start();
	}
}
