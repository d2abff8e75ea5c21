import type { Notice, NoticeListener, NoticeOrigin } from "../notice.js";

/** Tells a listener of what one origin says only what has changed. */
export class TellChanges {
	private noticed: Notice | undefined;
	private advised = new Map<string, Notice>();

	constructor(
		private readonly from: NoticeOrigin,
		private readonly listener: NoticeListener,
	) {}

	/** Whether the machine will go, as far as this origin has said. */
	get present(): Notice | undefined {
		return this.noticed;
	}

	/** @param withdrawn why a notice is gone that was there before */
	notice(now: Notice | undefined, withdrawn: string): void {
		const before = this.noticed;
		this.noticed = now;
		if (now === undefined) {
			if (before !== undefined) this.listener.withdrawn(this.from, withdrawn);
		} else if (!isSame(now, before)) {
			this.listener.noticed({ ...now, ...this.from });
		}
	}

	/**
	 * Each recommendation once, and that it is gone. It is no notice of this origin: if both hold, neither replaces the
	 * other.
	 */
	advice(all: readonly Notice[], withdrawn: string): void {
		const before = this.advised;
		this.advised = new Map(all.map((one) => [this.adviceOf(one), one]));
		for (const [origin, one] of this.advised) {
			if (!before.has(origin)) this.listener.advised({ ...one, origin });
		}
		for (const origin of before.keys()) {
			if (this.advised.has(origin)) continue;
			this.listener.withdrawn({ ...this.from, origin }, withdrawn);
		}
	}

	private adviceOf({ reason, deadline }: Notice): string {
		return `${this.from.origin ?? ""} advice ${deadline}: ${reason}`;
	}
}

function isSame(one: Notice, other: Notice | undefined): boolean {
	return one.reason === other?.reason && one.deadline === other.deadline;
}
