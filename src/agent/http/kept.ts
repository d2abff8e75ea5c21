import type { Clock } from "../../clock.js";

/** What was worked out is good for so long, in milliseconds. */
const KEPT_MS = 250;

/** Something that is worked out for whoever asks, and for all who ask at about the same time. */
export class Kept<Value> {
	private value: Promise<Value> | undefined;
	/** Until when it is given out; while it is worked out, that is not known. */
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
