import type { Hang } from "../../model/hang.js";

/** When a node's workers last moved, which names the standstill that followed; undefined: they have not moved yet. */
type LastMove = number | undefined;

/** What was found out about the standstill that a round is in. */
export class KnownStandstill {
	/** When it is judged again, on the clock. */
	private judged:
		| { readonly movedAt: LastMove; readonly again: number }
		| undefined;
	private found:
		| { readonly movedAt: LastMove; readonly hang: Hang }
		| undefined;

	/** Another round begins. */
	forget(): void {
		this.judged = undefined;
		this.found = undefined;
	}

	/** Whether it was judged, and is not to be judged again yet. */
	isQuiet(movedAt: LastMove, now: number): boolean {
		if (this.judged?.movedAt !== movedAt) return false;
		return now < (this.judged?.again ?? 0);
	}

	/** The hang that the workers are in; undefined if none, or if they have moved since. */
	hang(movedAt: LastMove): Hang | undefined {
		if (this.found?.movedAt !== movedAt) this.found = undefined;
		return this.found?.hang;
	}

	/** Returns whether this is the news of a hang. */
	note(
		movedAt: LastMove,
		again: number | undefined,
		hang: Hang | undefined,
	): boolean {
		this.judged = { movedAt, again: again ?? Number.POSITIVE_INFINITY };
		if (hang === undefined) return false;
		const isNew = this.found === undefined;
		this.found = { movedAt, hang };
		return isNew;
	}
}
