import { linkSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { systemErrorCode } from "../base/errors.js";
import { Allowance } from "./allowance.js";
import { encodeReply } from "./codec.js";
import type { WorkerReply } from "./events.js";
import {
	type ChannelPaths,
	channelPaths,
	messageFileName,
	sequencesIn,
} from "./layout.js";
import {
	replaceFile,
	requireMessageSize,
	writeTemporary,
} from "./message-file.js";

/** How many frequent replies may come at once, and per second in the long run: each one wakes the agent. */
const AT_MOST = 256;
const PER_SECOND = 2;
/** The agent sees steps within a second without them. */
const STEPS_PER_SECOND = 0.1;

/**
 * Writes a worker's replies. A worker may be several processes and threads that write at the same time (a wrapper and its
 * child, a data loader). A hard link takes each number, and never replaces a file, so none can overwrite another's reply.
 *
 * If steps come faster than the limit, a file that each step replaces holds the newest one. If errors do, the agent gets
 * the first ones.
 */
export class ReplyWriter {
	private readonly paths: ChannelPaths;
	private readonly frequent = {
		PROGRESS: new Allowance(STEPS_PER_SECOND, AT_MOST),
		ERROR: new Allowance(PER_SECOND, AT_MOST),
	};
	/** Fast steps must not hide the begin or the end of what was announced. */
	private readonly announcements = new Allowance(PER_SECOND, AT_MOST);
	private isBusy = false;
	private next = 1;

	constructor(directory: string) {
		this.paths = channelPaths(directory);
	}

	/**
	 * Returns whether it was written: errors beyond the limit are not. `timestamp`: milliseconds since 1970. Throws CHANNEL
	 * on more than 1 MiB, and the system's error if the disk refuses it.
	 */
	write(reply: WorkerReply, timestamp: number): boolean {
		if (this.isFrequent(reply, timestamp)) {
			if (reply.kind === "PROGRESS") this.replaceProgress(reply, timestamp);
			return reply.kind === "PROGRESS";
		}
		while (!this.claim(this.next, reply, timestamp)) {
			const taken = sequencesIn(readdirSync(this.paths.replies));
			this.next = Math.max(this.next, taken.at(-1) ?? 0) + 1;
		}
		this.next += 1;
		return true;
	}

	private isFrequent(reply: WorkerReply, timestamp: number): boolean {
		const { kind } = reply;
		if (kind !== "PROGRESS" && kind !== "ERROR") return false;
		const wasBusy = this.isBusy;
		if (kind === "PROGRESS") this.isBusy = reply.busy !== undefined;
		if (wasBusy || this.isBusy) {
			if (this.announcements.takeOne(timestamp)) return false;
		}
		return !this.frequent[kind].takeOne(timestamp);
	}

	private replaceProgress(reply: WorkerReply, timestamp: number): void {
		const { progress, temporary } = this.paths;
		const text = encodeReply(reply, this.next, timestamp);
		requireMessageSize(text, `reply ${reply.kind}`);
		replaceFile(progress, text, temporary);
	}

	private claim(
		sequence: number,
		reply: WorkerReply,
		timestamp: number,
	): boolean {
		const text = encodeReply(reply, sequence, timestamp);
		requireMessageSize(text, `reply ${reply.kind}`);
		const temporary = writeTemporary(this.paths.temporary, text);
		try {
			const name = messageFileName(sequence);
			linkSync(temporary, join(this.paths.replies, name));
			return true;
		} catch (error) {
			if (systemErrorCode(error) === "EEXIST") return false;
			throw error;
		} finally {
			rmSync(temporary, { force: true });
		}
	}
}
