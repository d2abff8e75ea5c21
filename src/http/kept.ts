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
