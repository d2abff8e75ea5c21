import { messageOf } from "../errors.js";
import type { Logger } from "./logger.js";

/** What has to be undone when a launch ends, however it ends: the newest first. */
export class Cleanups {
	private readonly pending: { what: string; undo: () => unknown }[] = [];

	/** Where all has been undone: that of something that came too late. */
	private late: Logger | undefined;

	/** What is added when all the others have been undone is undone at once. */
	add(what: string, undo: () => unknown): void {
		this.pending.push({ what, undo });
		if (this.late !== undefined) void this.run(this.late);
	}

	/** Undoes all; one that fails is logged and keeps none of the others from being undone. */
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
