import { messageOf } from "./errors.js";
import type { Logger } from "./logger.js";

/** Undoes what a launch has set up, newest first, however the launch ends. */
export class Cleanups {
	private readonly pending: { what: string; undo: () => unknown }[] = [];

	/** Set once all is undone: a cleanup that is added later logs here. */
	private late: Logger | undefined;

	/** Adds a cleanup. After `run` has finished, it is undone at once. */
	add(what: string, undo: () => unknown): void {
		this.pending.push({ what, undo });
		if (this.late !== undefined) void this.run(this.late);
	}

	/** Undoes everything. A failure is logged and does not stop the others. */
	async run(log: Logger): Promise<void> {
		for (let next = this.pending.pop(); next; next = this.pending.pop()) {
			try {
				await next.undo();
			} catch (error) {
				log.warn(`${next.what} failed: ${messageOf(error)}`);
			}
		}
		this.late = log;
	}
}
