import { readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { messageOf, systemErrorCode } from "../errors.js";
import { decodeReply } from "./codec.js";
import type { ReceivedReply } from "./events.js";
import { channelPaths, messageFileName, sequencesIn } from "./layout.js";
import { isPassing, readMessage } from "./message-file.js";
import type { Warn } from "./once-each.js";

/** Gets one reply, and the channel directory that it came by. It has been deleted from there. */
export type ReplyListener = (
	channelDirectory: string,
	reply: ReceivedReply,
) => void;

/** So that a flood of replies does not keep the agent from everything else. */
const REPLIES_PER_TURN = 256;

/** Takes what workers said out of their channels. Every file that is there is new: what was read is deleted. */
export class ReplyReader {
	readonly #onReply: ReplyListener;
	readonly #warn: Warn;
	/** Files that could not be deleted and must not be delivered twice. */
	readonly #done = new Set<string>();

	constructor(onReply: ReplyListener, warn: Warn) {
		this.#onReply = onReply;
		this.#warn = warn;
	}

	/** Delivers what lies in one channel, in order, up to a limit; returns whether it reached the limit, and more may lie there. */
	readSome(channelDirectory: string): boolean {
		const { replies } = channelPaths(channelDirectory);
		let taken = 0;
		for (const sequence of sequencesIn(this.#list(replies))) {
			if (taken === REPLIES_PER_TURN) return true;
			const reply = this.#read(join(replies, messageFileName(sequence)));
			if (reply === "left") continue;
			taken += 1;
			if (reply !== undefined) this.#onReply(channelDirectory, reply);
		}
		return false;
	}

	/** A channel that was removed has no more replies. */
	#list(replies: string): string[] {
		try {
			return readdirSync(replies);
		} catch (error) {
			if (systemErrorCode(error) !== "ENOENT") this.#warn(messageOf(error));
			return [];
		}
	}

	/** Reads and deletes; undefined where it is no reply, `left` where the file stays. */
	#read(path: string): ReceivedReply | undefined | "left" {
		if (this.#done.has(path)) return "left";
		let reply: ReceivedReply | undefined;
		try {
			const file = readMessage(path);
			if (file === undefined) return "left";
			reply = decodeReply(file.text);
		} catch (error) {
			this.#tell(path, "cannot be read as a reply", error);
			if (isPassing(error)) return "left";
		}
		this.#delete(path);
		return reply;
	}

	#delete(path: string): void {
		try {
			rmSync(path, { force: true });
		} catch (error) {
			this.#done.add(path);
			this.#tell(path, "cannot be deleted", error);
		}
	}

	/** A worker may leave any number of such files: the first of each kind in its channel stands for all. */
	#tell(path: string, what: string, error: unknown): void {
		// Messages quote the file or its path.
		const name = error instanceof Error ? error.name : "";
		const kind = systemErrorCode(error) ?? name;
		this.#warn(
			`${path} ${what}: ${messageOf(error)}.`,
			`${dirname(path)} ${what}: ${kind}`,
		);
	}
}
