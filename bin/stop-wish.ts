/**
 * npx, npm, `tini -g` and shells that forward signals deliver one Ctrl-C or SIGTERM twice, about 10 ms apart. Within this
 * time, in milliseconds, the same signal counts once.
 */
const ONE_WISH_MS = 1_000;

/** Decides what a signal requests, given the earlier ones. */
export class StopWish {
	private first:
		| { readonly signal: NodeJS.Signals; readonly at: number }
		| undefined;

	/** `same`: it repeats the first one. @param now in milliseconds */
	take(signal: NodeJS.Signals, now: number): "stop" | "kill" | "same" {
		if (this.first === undefined) {
			this.first = { signal, at: now };
			return "stop";
		}
		const isRepeated =
			signal === this.first.signal && now - this.first.at < ONE_WISH_MS;
		return isRepeated ? "same" : "kill";
	}
}
