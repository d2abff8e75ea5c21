import type { Notice, NoticeListener, NoticeSource } from "../notice.js";

/** Tells a listener of a source's present notice only what has changed. */
export class TellChanges {
	private noticed: Notice | undefined;
	private readonly advised = new Set<string>();

	constructor(
		private readonly source: NoticeSource,
		private readonly listener: NoticeListener,
	) {}

	/** Whether the machine will go, as far as this source has said. */
	get present(): Notice | undefined {
		return this.noticed;
	}

	/** @param withdrawn why a notice is gone that was there before */
	notice(now: Notice | undefined, withdrawn: string): void {
		const before = this.noticed;
		this.noticed = now;
		if (now === undefined) {
			if (before !== undefined) this.listener.withdrawn(this.source, withdrawn);
		} else if (!isSame(now, before)) this.listener.noticed(now);
	}

	/** Each recommendation once. */
	advice(all: readonly Notice[]): void {
		for (const one of all) {
			const key = `${one.reason} ${one.deadline}`;
			if (this.advised.has(key)) continue;
			this.advised.add(key);
			this.listener.advised(one);
		}
	}
}

function isSame(one: Notice, other: Notice | undefined): boolean {
	return one.reason === other?.reason && one.deadline === other.deadline;
}
