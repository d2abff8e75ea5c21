import { linkSync, mkdirSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { channelFailure } from "./channel-error.js";
import { encodeEvent } from "./codec.js";
import { ringDoorbell } from "./doorbell.js";
import type { WorkerEvent } from "./events.js";
import {
	type ChannelPaths,
	channelPaths,
	KEPT_EVENTS,
	messageFileName,
} from "./layout.js";
import {
	fillTemporary,
	requireMessageSize,
	writeTemporary,
} from "./message-file.js";

/** What the agent says; the channel adds where in the channel and when. */
export type OutgoingEvent = Omit<WorkerEvent, "sequence" | "timestamp">;

/** The agent's end of one worker process's channel. */
export class WorkerChannel {
	readonly localRank: number;
	/** Its path is the worker's ELASTIC_RUN_CHANNEL, and names this process for ever: a restarted worker gets another. */
	readonly directory: string;
	readonly #paths: ChannelPaths;
	readonly #forget: () => void;
	/** An empty file that waits for its text. */
	#blank: string | undefined;
	#sent = 0;

	/** Makes the directory; throws CHANNEL where that cannot be done, and leaves nothing. */
	constructor(localRank: number, directory: string, forget: () => void) {
		this.localRank = localRank;
		this.directory = directory;
		this.#forget = forget;
		this.#paths = channelPaths(directory);
		const { events, replies, temporary } = this.#paths;
		const made: string[] = [];
		try {
			for (const path of [directory, events, replies, temporary]) {
				mkdirSync(path, { mode: 0o700 });
				made.unshift(path);
			}
		} catch (error) {
			for (const path of made) rmdirSync(path);
			throw channelFailure(directory, error);
		}
	}

	/**
	 * Writes the next event and returns it; `ring` tells of it at once. `timestamp`: milliseconds since 1970.
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

	/** Tells the worker that something was sent; it then takes a processor, perhaps at once. */
	ring(): void {
		ringDoorbell(this.doorbell);
	}

	/** Makes the file of the first event now, empty, where there is time for it; throws the system's error. */
	prepareFirstEvent(): void {
		this.#blank ??= writeTemporary(this.#paths.temporary, "");
	}

	/** By which the worker is told of news, once it has been installed. */
	get doorbell(): string {
		return this.#paths.doorbell;
	}

	/** Where the worker puts what it says. */
	get replies(): string {
		return this.#paths.replies;
	}

	/** Removes the directory and all that is in it. */
	remove(): void {
		this.#forget();
		rmSync(this.directory, { recursive: true, force: true });
	}

	/** The file has both of its names to be before it gets either, so that a full disk leaves neither. */
	#publish(sequence: number, text: string): void {
		const { events, latest, temporary } = this.#paths;
		const blank = this.#blank;
		this.#blank = undefined;
		const event = blank ?? writeTemporary(temporary, text);
		const newest = `${event}.latest`;
		try {
			if (blank !== undefined) fillTemporary(blank, text);
			linkSync(event, newest);
			renameSync(event, join(events, messageFileName(sequence)));
			this.#sent = sequence;
			renameSync(newest, latest);
		} catch (error) {
			for (const path of [event, newest]) rmSync(path, { force: true });
			throw error;
		}
	}

	#prune(sequence: number): void {
		if (sequence < 1) return;
		rmSync(join(this.#paths.events, messageFileName(sequence)), {
			force: true,
		});
	}
}
