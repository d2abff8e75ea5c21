import { unlinkSync } from "node:fs";
import { join } from "node:path";
import { messageOf, systemErrorCode } from "../base/errors.js";
import { decodeReply } from "./codec.js";
import type { ReceivedReply } from "./events.js";
import { messageFileName } from "./layout.js";
import { isPassing, readMessage } from "./message-file.js";
import type { Warn } from "./once-each.js";

/** The files in a directory of replies, by their numbers. */
export class ReplyFiles {
	private readonly directory: string;
	private readonly warn: Warn;
	/** Replies that still lie there and must not be delivered twice. */
	private readonly done = new Set<number>();

	constructor(directory: string, warn: Warn) {
		this.directory = directory;
		this.warn = warn;
	}

	/** Whether it was delivered and still lies there. */
	isDone(sequence: number): boolean {
		return this.done.has(sequence);
	}

	/** Reads and deletes a reply; undefined if it is invalid or gone. */
	take(sequence: number): ReceivedReply | undefined {
		const reply = this.readOnce(sequence);
		if (this.done.delete(sequence)) this.delete(sequence);
		return reply;
	}

	/** Reads a reply and leaves its file: to delete it may cost a slow disk milliseconds. Otherwise as `take`. */
	readOnce(sequence: number): ReceivedReply | undefined {
		const path = this.pathOf(sequence);
		let reply: ReceivedReply | undefined;
		try {
			const file = readMessage(path);
			if (file === undefined) return undefined;
			reply = decodeReply(file.text);
		} catch (error) {
			this.tell(path, "cannot be read as a reply", error);
			if (isPassing(error)) return undefined;
		}
		this.done.add(sequence);
		return reply;
	}

	delete(sequence: number): void {
		const path = this.pathOf(sequence);
		try {
			unlinkSync(path);
		} catch (error) {
			if (systemErrorCode(error) === "ENOENT") return;
			this.done.add(sequence);
			this.tell(path, "cannot be deleted", error);
		}
	}

	private pathOf(sequence: number): string {
		return join(this.directory, messageFileName(sequence));
	}

	/** A worker may leave any number of bad files: each channel reports only the first of each kind. */
	private tell(path: string, what: string, error: unknown): void {
		// The message may quote the file or its path.
		const name = error instanceof Error ? error.name : "";
		const kind = systemErrorCode(error) ?? name;
		this.warn(
			`${path} ${what}: ${messageOf(error)}.`,
			`${this.directory} ${what}: ${kind}`,
		);
	}
}
