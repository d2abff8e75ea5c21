import { readdirSync, statSync } from "node:fs";
import type { WorkerChannel } from "./worker-channel.js";

/**
 * So long after a change, in milliseconds, the next one certainly gets another time:
 * file systems count in steps of up to two seconds.
 */
const SETTLED_MS = 3_000;

/**
 * Spares a poll the reading of channels in which no reply lay and nothing has changed
 * since: asking a directory for the time of its last change costs a third of listing it.
 */
export class QuietChannels {
	/** The time of the change after which no reply lay there. */
	readonly #emptySince = new WeakMap<WorkerChannel, number>();

	/** Calls `read` unless there can be no reply in the channel. `wallTime`: milliseconds since 1970. */
	poll(channel: WorkerChannel, wallTime: number, read: () => void): void {
		const changedAt = changeTimeOf(channel.replies);
		if (changedAt !== undefined && changedAt === this.#emptySince.get(channel))
			return;
		read();
		if (changedAt === undefined || wallTime - changedAt < SETTLED_MS) return;
		// What comes after this look changes the time again.
		if (isEmpty(channel.replies)) this.#emptySince.set(channel, changedAt);
	}
}

/** Undefined where it has been removed, or cannot be asked: whoever reads it says so. */
function changeTimeOf(directory: string): number | undefined {
	try {
		return statSync(directory).mtimeMs;
	} catch {
		return undefined;
	}
}

function isEmpty(directory: string): boolean {
	try {
		return readdirSync(directory).length === 0;
	} catch {
		return false;
	}
}
