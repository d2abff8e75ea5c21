import { linkSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { systemErrorCode } from "../errors.js";
import { encodeReply } from "./codec.js";
import type { WorkerReply } from "./events.js";
import {
	type ChannelPaths,
	channelPaths,
	messageFileName,
	sequencesIn,
} from "./layout.js";
import { requireMessageSize, writeTemporary } from "./message-file.js";

/**
 * Writes what a worker says. A worker may be several processes and threads
 * that all speak for it (a wrapper and its child, a data loader): a number is
 * taken by a hard link, which never replaces a file, so none of them can
 * overwrite another's reply.
 */
export class ReplyWriter {
	readonly #paths: ChannelPaths;
	#next = 1;

	constructor(directory: string) {
		this.#paths = channelPaths(directory);
	}

	/** `timestamp`: milliseconds since 1970. Throws CHANNEL on more than 1 MiB, and the system's error where the disk does not take it. */
	write(reply: WorkerReply, timestamp: number): void {
		while (!this.#claim(this.#next, reply, timestamp)) {
			const taken = sequencesIn(readdirSync(this.#paths.replies));
			this.#next = Math.max(this.#next, taken.at(-1) ?? 0) + 1;
		}
		this.#next += 1;
	}

	#claim(sequence: number, reply: WorkerReply, timestamp: number): boolean {
		const text = encodeReply(reply, sequence, timestamp);
		requireMessageSize(text, `reply ${reply.kind}`);
		const temporary = writeTemporary(this.#paths.temporary, text);
		try {
			const name = messageFileName(sequence);
			linkSync(temporary, join(this.#paths.replies, name));
			return true;
		} catch (error) {
			if (systemErrorCode(error) === "EEXIST") return false;
			throw error;
		} finally {
			rmSync(temporary, { force: true });
		}
	}
}
