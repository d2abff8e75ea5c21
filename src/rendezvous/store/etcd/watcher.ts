import type { OnHint } from "../store.js";

/** How long to wait after a refused watch, in milliseconds; each further refusal doubles it. */
const SHORTEST_REFUSAL_MS = 1_000;
const LONGEST_REFUSAL_MS = 30_000;

/** One watch of the store's users. It survives its streams. */
export class Watcher {
	private isHinting = false;
	/** The newest revision to notify. */
	private changed = 0;
	private isClosed = false;
	/** How often in a row etcd has refused it. */
	private refusals = 0;

	/** @param seen returns the revision up to which the owner of `onHint` has seen everything */
	constructor(
		readonly selectors: readonly string[],
		private seen: number,
		private readonly onHint: OnHint,
	) {}

	/** etcd confirmed the watch, and reports changes after this revision. */
	grant(revision: number): void {
		this.refusals = 0;
		if (revision !== this.seen) this.hint();
	}

	/** Further changes may stay unseen until etcd watches again. */
	loseSight(): void {
		this.seen = Number.NaN;
	}

	/**
	 * Notifications that come together are merged.
	 * @param revision that of the last change; without it anything may have changed
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
	 * Handles a refusal by etcd. Returns how long to wait before the next request, in milliseconds.
	 * @param isTokenRenewed whether the next request has a new token: the first refusal may have been for the old one
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
