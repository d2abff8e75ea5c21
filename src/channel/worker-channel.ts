import { mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { channelFailure } from "./channel-error.js";
import { encodeEvent } from "./codec.js";
import type { WorkerEvent } from "./events.js";
import { channelPaths, KEPT_EVENTS, messageFileName } from "./layout.js";
import { requireMessageSize, writeTemporary } from "./message-file.js";

/** What the agent says; the channel adds where in the channel and when. */
export type OutgoingEvent = Omit<WorkerEvent, "sequence" | "timestamp">;

/** The agent's end of one worker process's channel. */
export class WorkerChannel {
	readonly localRank: number;
	/** Its path is the worker's ELASTIC_RUN_CHANNEL, and names this process for ever: a restarted worker gets another. */
	readonly directory: string;
	readonly #forget: () => void;
	#sent = 0;

	/** Makes the directory; throws CHANNEL where that cannot be done. */
	constructor(localRank: number, directory: string, forget: () => void) {
		this.localRank = localRank;
		this.directory = directory;
		this.#forget = forget;
		const { events, replies, temporary } = channelPaths(directory);
		try {
			for (const path of [directory, events, replies, temporary]) {
				mkdirSync(path, { mode: 0o700 });
			}
		} catch (error) {
			throw channelFailure(directory, error);
		}
	}

	/**
	 * Writes the next event and returns it. `timestamp`: milliseconds since 1970.
	 * Throws CHANNEL where the event is larger than 1 MiB or the disk does not
	 * take it; then nothing was sent, and the next event gets its number.
	 */
	send(message: OutgoingEvent, timestamp: number): WorkerEvent {
		const sequence = this.#sent + 1;
		const event: WorkerEvent = { ...message, sequence, timestamp };
		const text = encodeEvent(event);
		requireMessageSize(text, `event ${sequence} for ${this.directory}`);
		try {
			this.#publish(sequence, text);
		} catch (error) {
			throw channelFailure(this.directory, error);
		}
		this.#prune(sequence - KEPT_EVENTS);
		return event;
	}

	/** Removes the directory and all that is in it. */
	remove(): void {
		this.#forget();
		rmSync(this.directory, { recursive: true, force: true });
	}

	/** Both files are written before either gets its name, so that a full disk leaves neither. */
	#publish(sequence: number, text: string): void {
		const { events, latest, temporary } = channelPaths(this.directory);
		const written: string[] = [];
		const write = () => {
			const path = writeTemporary(temporary, text);
			written.push(path);
			return path;
		};
		try {
			const [event, newest] = [write(), write()];
			renameSync(event, join(events, messageFileName(sequence)));
			this.#sent = sequence;
			renameSync(newest, latest);
		} catch (error) {
			for (const path of written) rmSync(path, { force: true });
			throw error;
		}
	}

	#prune(sequence: number): void {
		if (sequence < 1) return;
		const { events } = channelPaths(this.directory);
		rmSync(join(events, messageFileName(sequence)), { force: true });
	}
}
