/**
 * npx, npm, `tini -g` and shells that forward signals deliver one Ctrl-C or SIGTERM twice, about 10 ms apart. Within this
 * time, in milliseconds, the same signal counts once.
 */
const ONE_WISH_MS = 1_000;

/** What a signal to the launcher requests. `notice`: to leave in order before the machine goes; `same`: nothing more. */
export type Wish = "notice" | "stop" | "kill" | "same";

interface Taken {
	readonly signal: NodeJS.Signals;
	readonly at: number;
	readonly wish: Wish;
}

/** Decides what a signal requests, given the earlier ones: each asks for more haste than the one before. */
export class StopWish {
	private last: Taken | undefined;

	/** @param notice the signal that says that the machine will go, if any does */
	constructor(private readonly notice?: NodeJS.Signals) {}

	/** @param now in milliseconds */
	take(signal: NodeJS.Signals, now: number): Wish {
		if (this.last !== undefined && isSame(this.last, signal, now))
			return "same";
		const wish = this.wishOf(signal);
		this.last = { signal, at: now, wish };
		return wish;
	}

	private wishOf(signal: NodeJS.Signals): Wish {
		const before = this.last?.wish;
		if (before === undefined && signal === this.notice) return "notice";
		return before === undefined || before === "notice" ? "stop" : "kill";
	}
}

function isSame(last: Taken, signal: NodeJS.Signals, now: number): boolean {
	const isKill = last.wish === "kill";
	return !isKill && signal === last.signal && now - last.at < ONE_WISH_MS;
}
