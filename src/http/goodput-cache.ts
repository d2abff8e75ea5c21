import { describeGoodput, type Goodput } from "../goodput/describe-goodput.js";
import { readAccounts } from "../goodput/read-ledger.js";
import type { RunHistory } from "../rendezvous/describe/describe-history.js";
import type { RunStatus } from "../rendezvous/describe/run-status.js";
import type { Snapshot } from "../rendezvous/store/store.js";

/** Of a large run it takes some time, and a page asks each second: it is computed at most this often, in milliseconds. */
const EVERY_MS = 2_000;

/** Keeps the goodput of a run for a while, and until its end is known. */
export class GoodputCache {
	private last: { readonly at: number; readonly value: Goodput } | undefined;

	/** @param wallTime milliseconds since 1970 */
	of(
		run: RunStatus,
		history: RunHistory,
		snapshot: Snapshot,
		wallTime: number,
	): Goodput {
		const hasEnded = run.outcome !== null;
		if (
			this.last !== undefined &&
			Math.abs(wallTime - this.last.at) < EVERY_MS &&
			hasEnded === (this.last.value.endedAt !== null)
		) {
			return this.last.value;
		}
		const accounts = readAccounts(run, history, snapshot, wallTime);
		const value = describeGoodput(accounts);
		this.last = { at: wallTime, value };
		return value;
	}
}
