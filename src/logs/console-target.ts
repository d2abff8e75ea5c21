import type { Writable } from "node:stream";
import { ShownStacks } from "./shown-stacks.js";

/**
 * One of the launcher's streams, written with back-pressure: one write at a time, each awaited. The first error (EPIPE
 * after `| head`, a terminal that hung up, a full disk) silences it for good.
 */
export class ConsoleTarget {
	readonly stacks = new ShownStacks();
	private readonly stream: Writable;
	private readonly onLost: (error: Error) => void;
	private isLost = false;
	/** Resolves the pending write. */
	private settle: (() => void) | undefined;

	/** `onLost` is called at most once. */
	constructor(stream: Writable, onLost: (error: Error) => void) {
		this.stream = stream;
		this.onLost = onLost;
		stream.on("error", this.lose);
		stream.on("close", this.release);
	}

	/** Whether the stream has failed. */
	get lost(): boolean {
		return this.isLost;
	}

	/** Resolves once the stream has taken the bytes or has failed. Do not change the bytes before. */
	write(bytes: Uint8Array): Promise<void> {
		if (this.isLost) return Promise.resolve();
		return new Promise((resolve) => {
			this.settle = resolve;
			this.stream.write(bytes, (error) => {
				this.settle = undefined;
				if (error) this.lose(error);
				if (this.isLost) this.letGo();
				resolve();
			});
		});
	}

	/** Gives up the pending write and all later ones. */
	readonly release = (): void => {
		this.isLost = true;
		if (this.settle) this.settle();
		else this.letGo();
	};

	private readonly lose = (error: Error): void => {
		if (this.isLost) return;
		this.release();
		this.onLost(error);
	};

	/** A failed write emits its error a moment later. Without a listener that would end the process. */
	private letGo(): void {
		setImmediate(() => {
			this.stream.off("error", this.lose);
			this.stream.off("close", this.release);
		});
	}
}
