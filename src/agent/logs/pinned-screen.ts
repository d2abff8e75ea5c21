import { Writable } from "node:stream";
import type { Clock } from "../../clock.js";
import { erased, redrawn } from "../operate/draw.js";

/** So long after the last output the lines are put below it again, in milliseconds. */
const DRAW_AFTER_MS = 50;
const NEWLINE = 0x0a;
const DIM = "\x1b[2m";
const RESET = "\x1b[0m";

export interface PinnedScreenOptions {
	/** The terminal. */
	readonly terminal: Writable;
	readonly clock: Clock;
	/** Whether the lines are set off from the others. */
	readonly colour: boolean;
}

/**
 * A few lines that stay below all that is written to a terminal: they are taken
 * away before anything else is written, and put back a moment later.
 */
export class PinnedScreen {
	private lines: readonly string[] = [];
	private drawn = 0;
	/** The cursor is at the beginning of a line. */
	private isAtStart = true;
	private closed = false;
	private cancelTimer: (() => void) | undefined;

	constructor(private readonly options: PinnedScreenOptions) {}

	/** What is written to it comes to a stream that leads to the same terminal, above the lines. */
	over(stream: Writable): Writable & { readonly isTTY: true } {
		const above = new Writable({
			write: (chunk: Buffer, _encoding, done) => {
				this.erase();
				this.isAtStart = chunk.at(-1) === NEWLINE;
				const isTaken = stream.write(chunk, (error) => {
					if (error) above.destroy(error);
				});
				// Nothing waits here, behind which somebody else could write, unless the terminal is slow.
				if (isTaken) done();
				else stream.once("drain", done);
				this.drawLater();
			},
		});
		// Lost with its terminal: who wants to know listens as well.
		above.on("error", () => {});
		return Object.assign(above, { isTTY: true as const });
	}

	/** Shows these from now on. */
	readonly show = (lines: readonly string[]): void => {
		this.lines = lines;
		this.drawLater();
	};

	/** Takes the lines away for good. */
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
		// Nothing is torn apart: an unfinished line is waited for.
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
