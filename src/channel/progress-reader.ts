import { statSync } from "node:fs";
import { messageOf } from "../base/errors.js";
import { decodeReply } from "./codec.js";
import type { ReceivedReply } from "./events.js";
import { readMessage } from "./message-file.js";
import type { Warn } from "./once-each.js";

/** Reads a worker's progress from the one file that it replaces at each step. Costs one `stat` if nothing has changed. */
export class ProgressReader {
	private readonly path: string;
	private readonly warn: Warn;
	private lastRead = "";
	/** The times of the newest step reported by a reply and by this file. */
	private repliedAt = Number.NEGATIVE_INFINITY;
	private readAt = Number.NEGATIVE_INFINITY;

	constructor(path: string, warn: Warn) {
		this.path = path;
		this.warn = warn;
	}

	/** The newest step; undefined if it is known already. */
	read(): ReceivedReply | undefined {
		try {
			const found = statSync(this.path, { throwIfNoEntry: false });
			if (found === undefined) return undefined;
			const identity = `${found.ino} ${found.mtimeMs} ${found.size}`;
			if (identity === this.lastRead) return undefined;
			this.lastRead = identity;
			const text = readMessage(this.path)?.text;
			const reply = text === undefined ? undefined : decodeReply(text);
			if (reply?.kind !== "PROGRESS") return undefined;
			this.readAt = reply.timestamp;
			return reply.timestamp < this.repliedAt ? undefined : reply;
		} catch (error) {
			this.warn(
				`${this.path} cannot be read: ${messageOf(error)}.`,
				`${this.path} cannot be read`,
			);
			return undefined;
		}
	}

	/** Whether a step reported by a reply is not older than the file. It counts as known from now on. */
	isNews({ timestamp }: ReceivedReply): boolean {
		this.repliedAt = Math.max(this.repliedAt, timestamp);
		return timestamp >= this.readAt;
	}
}
