import { Writable } from "node:stream";
import type { Clock } from "../base/clock.js";
import { erased, redrawn } from "./draw.js";

/** The lines are drawn again this long after the last output, in milliseconds. */
const DRAW_AFTER_MS = 50;
const NEWLINE = 0x0a;
const DIM = "\x1b[2m";
const RESET = "\x1b[0m";

export interface PinnedScreenOptions {
	readonly terminal: Writable;
	readonly clock: Clock;
	/** Whether the lines are coloured. */
	readonly colour: boolean;
}

/** A few lines that stay at the bottom of a terminal: they are erased before other output, and drawn again a moment later. */
export class PinnedScreen {
	private lines: readonly string[] = [];
	private drawn = 0;
	/** The cursor is at the beginning of a line. */
	private isAtStart = true;
	private closed = false;
	private cancelTimer: (() => void) | undefined;

	constructor(private readonly options: PinnedScreenOptions) {}

	/** A stream whose output goes to `stream`, on the same terminal, above the lines. */
	over(stream: Writable): Writable & { readonly isTTY: true } {
		const above = new Writable({
			write: (chunk: Buffer, _encoding, done) => {
				this.erase();
				this.isAtStart = chunk.at(-1) === NEWLINE;
				const isTaken = stream.write(chunk, (error) => {
					if (error) above.destroy(error);
				});
				// Nothing is queued here, so others cannot overtake it, unless the terminal is slow.
				if (isTaken) done();
				else stream.once("drain", done);
				this.drawLater();
			},
		});
		// The stream fails with its terminal. Anybody interested also listens.
		above.on("error", () => {});
		return Object.assign(above, { isTTY: true as const });
	}

	/** Shows these lines from now on. */
	readonly show = (lines: readonly string[]): void => {
		this.lines = lines;
		this.drawLater();
	};

	/** Erases the lines for good. */
	close(): void {
		this.closed = true;
		this.cancelTimer?.();
		this.erase();
	}

	private erase(): void {
		if (this.drawn > 0) this.options.terminal.write(erased(this.drawn));
		this.drawn = 0;
	}

	private drawLater(): void {
		if (this.closed) return;
		const { clock } = this.options;
		this.cancelTimer ??= clock.wakeAt(clock.now() + DRAW_AFTER_MS, () => {
			this.cancelTimer = undefined;
			this.draw();
		});
	}

	private draw(): void {
		// An unfinished line must end first.
		if (!this.isAtStart) return;
		const { terminal, colour } = this.options;
		const lines = this.lines.map((line) =>
			colour ? `${DIM}${line}${RESET}` : line,
		);
		if (lines.length > 0 || this.drawn > 0) {
			terminal.write(redrawn(lines, this.drawn));
		}
		this.drawn = lines.length;
	}
}
