import type { Notice } from "../../model/index.js";
import type { OpenSource, SourceContext } from "./source.js";

/** A time that is known before: when a notice of it is due. All are milliseconds since 1970. */
export interface KnownEnd {
	/** From when it is counted. */
	readonly from: number;
	readonly end: number;
	/** How long before the end the node is to leave, in milliseconds. */
	readonly drainBeforeMs: number;
}

/** When to tell of it: a short life keeps at least half of its time. */
export function drainAt({ from, end, drainBeforeMs }: KnownEnd): number {
	const half = Math.max(0, end - from) / 2;
	return end - Math.min(drainBeforeMs, half);
}

/** Tells of an end that was known from the start, when it is near. */
export class TimedNotice implements OpenSource {
	private readonly cancel: () => void;

	constructor(
		known: KnownEnd,
		notice: Omit<Notice, "deadline">,
		{ clock, listener }: SourceContext,
	) {
		// From here on a steady clock counts: somebody may set the other one.
		const endsAt = clock.now() + known.end - clock.wallTime();
		const drainsAt = endsAt - (known.end - drainAt(known));
		this.cancel = clock.wakeAt(Math.max(clock.now(), drainsAt), () => {
			const deadline = clock.wallTime() + endsAt - clock.now();
			listener.noticed({ ...notice, deadline: Math.round(deadline) });
		});
	}

	close(): void {
		this.cancel();
	}
}
