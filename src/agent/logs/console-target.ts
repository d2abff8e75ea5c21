import type { Writable } from "node:stream";

/**
 * One of the launcher's own streams, written with back-pressure: one write at
 * a time, each awaited. The first error (EPIPE after `| head`, a terminal that
 * hung up, a full disk) silences it for good.
 */
export class ConsoleTarget {
	readonly #stream: Writable;
	readonly #onLost: (error: Error) => void;
	#lost = false;
	/** Resolves the write that is under way. */
	#settle: (() => void) | undefined;

	/** `onLost` is called at most once. */
	constructor(stream: Writable, onLost: (error: Error) => void) {
		this.#stream = stream;
		this.#onLost = onLost;
		stream.on("error", this.#lose);
		stream.on("close", this.release);
	}

	/** Nothing can be shown here any more. */
	get lost(): boolean {
		return this.#lost;
	}

	/** Resolves when the stream has taken the bytes, which must not change until then, or is lost. */
	write(bytes: Uint8Array): Promise<void> {
		if (this.#lost) return Promise.resolve();
		return new Promise((resolve) => {
			this.#settle = resolve;
			this.#stream.write(bytes, (error) => {
				this.#settle = undefined;
				if (error) this.#lose(error);
				if (this.#lost) this.#letGo();
				resolve();
			});
		});
	}

	/** Gives up a write that is under way, and all that would follow. */
	readonly release = (): void => {
		this.#lost = true;
		if (this.#settle) this.#settle();
		else this.#letGo();
	};

	readonly #lose = (error: Error): void => {
		if (this.#lost) return;
		this.release();
		this.#onLost(error);
	};

	/** The error of a failed write is also emitted, a moment later: unheard, it would end the process. */
	#letGo(): void {
		setImmediate(() => {
			this.#stream.off("error", this.#lose);
			this.#stream.off("close", this.release);
		});
	}
}
