import type { OnHint } from "../store.js";

/** How long a watch that was refused is not asked for again, in milliseconds; the next time twice as long. */
const SHORTEST_REFUSAL_MS = 1_000;
const LONGEST_REFUSAL_MS = 30_000;

/** One watch of the store's users, whatever streams it outlives. */
export class Watcher {
	private isHinting = false;
	/** The newest revision that is to be hinted at. */
	private changed = 0;
	private isClosed = false;
	/** How often in a row etcd has refused it. */
	private refusals = 0;

	/** @param seen the revision up to which `onHint`'s owner has seen everything */
	constructor(
		readonly selectors: readonly string[],
		private seen: number,
		private readonly onHint: OnHint,
	) {}

	/** etcd watches a selector, and tells of what comes after this revision. */
	grant(revision: number): void {
		this.refusals = 0;
		if (revision !== this.seen) this.hint();
	}

	/** What happens from now on may stay unseen until etcd watches again. */
	loseSight(): void {
		this.seen = Number.NaN;
	}

	/**
	 * Several hints that come together are one.
	 * @param revision of the last change that it is for; none: anything may have changed
	 */
	hint(revision = Number.POSITIVE_INFINITY): void {
		this.changed = Math.max(this.changed, revision);
		if (this.isHinting) return;
		this.isHinting = true;
		setImmediate(() => {
			const { changed } = this;
			this.isHinting = false;
			this.changed = 0;
			if (this.isClosed) return;
			if (Number.isFinite(changed)) this.onHint(changed);
			else this.onHint();
		});
	}

	/**
	 * etcd refuses to watch. Returns how long it is not to be asked again, in milliseconds.
	 * @param isTokenRenewed whether it will be asked with a new token: the first time it may have been for the old one
	 */
	refuse(isTokenRenewed: boolean): number {
		this.refusals += 1;
		if (isTokenRenewed && this.refusals === 1) return 0;
		return Math.min(
			LONGEST_REFUSAL_MS,
			SHORTEST_REFUSAL_MS * 2 ** (this.refusals - 1),
		);
	}

	close(): void {
		this.isClosed = true;
	}
}
