import type { Clock } from "../base/clock.js";

/** How long a computed value stays valid, in milliseconds. */
const KEPT_MS = 250;

/** A value that is computed on request and shared by all requests at about the same time. */
export class Kept<Value> {
	private value: Promise<Value> | undefined;
	/** When the value expires; unknown while it is being computed. */
	private until = Number.POSITIVE_INFINITY;

	constructor(
		private readonly clock: Clock,
		private readonly make: () => Promise<Value>,
	) {}

	get(): Promise<Value> {
		if (this.value === undefined || this.clock.now() >= this.until) {
			this.until = Number.POSITIVE_INFINITY;
			this.value = this.make().finally(() => {
				this.until = this.clock.now() + KEPT_MS;
			});
		}
		return this.value;
	}
}

/** A client that has asked within this time, in milliseconds, is polling; a busy browser takes a while. */
const ASKS_AGAIN_WITHIN_MS = 1_500;

/** Knows whether a client polls, and whether it has heard of the end. */
export class Follower {
	private answeredAt = Number.NEGATIVE_INFINITY;
	private underWay = 0;
	private hasHeard = false;
	private tellHeard: () => void = () => {};

	constructor(private readonly clock: Pick<Clock, "now">) {}

	/** Answers a poll; `isLast`: the answer tells the end. */
	async answer<Value>(
		work: () => Promise<{ readonly value: Value; readonly isLast: boolean }>,
	): Promise<Value> {
		this.underWay += 1;
		try {
			const { value, isLast } = await work();
			if (isLast) {
				this.hasHeard = true;
				this.tellHeard();
			}
			return value;
		} finally {
			this.underWay -= 1;
			this.answeredAt = this.clock.now();
		}
	}

	/** Resolves once the polling client, if there is one, has heard of the end. */
	heard(): Promise<void> {
		const isThere =
			this.underWay > 0 ||
			this.clock.now() - this.answeredAt < ASKS_AGAIN_WITHIN_MS;
		if (!isThere || this.hasHeard) return Promise.resolve();
		return new Promise((resolve) => {
			this.tellHeard = resolve;
		});
	}
}
