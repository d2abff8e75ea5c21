import {
	existsSync,
	linkSync,
	mkdirSync,
	renameSync,
	rmdirSync,
	rmSync,
} from "node:fs";
import { join } from "node:path";
import { encodeEvent } from "./codec.js";
import { removeTree, removeTreeAside } from "./directories.js";
import { ringDoorbell } from "./doorbell.js";
import type {
	ChannelEvent,
	NoticeEvent,
	NoticeState,
	WorkerEvent,
} from "./events.js";
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
import { channelFailure } from "./problems.js";
import { removeShortSocket } from "./worker-hook.js";

/** An event from the agent; the channel adds sequence and time. */
export type OutgoingEvent = Omit<WorkerEvent, "sequence" | "timestamp">;
export type OutgoingNotice = Omit<NoticeEvent, "sequence" | "timestamp">;

/** The agent's end of one worker process's channel. */
export class WorkerChannel {
	private readonly paths: ChannelPaths;
	/** An empty file, ready for the first event. */
	private blank: string | undefined;
	private hasHook = false;
	private sent = 0;
	/** The newest event that is no notice, and the newest notice. */
	private newest: WorkerEvent | undefined;
	private notice: NoticeState | undefined;

	/** Makes the directory. If that fails, throws CHANNEL and leaves nothing. */
	constructor(
		/** Its path is the worker's ELASTIC_RUN_CHANNEL and belongs to this process for ever: a restarted worker gets another. */
		readonly directory: string,
		private readonly forget: () => void,
	) {
		this.paths = channelPaths(directory);
		const { events, replies, temporary } = this.paths;
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
	 * Writes the next event and returns it; `ring` then wakes the worker. `timestamp`: milliseconds since 1970. Throws
	 * CHANNEL if the event exceeds 1 MiB or the disk refuses it. Then nothing was sent, and the next event gets its number.
	 */
	send(message: OutgoingEvent, timestamp: number): WorkerEvent {
		const event = { ...message, sequence: this.sent + 1, timestamp };
		const text = encodeEvent(event, this.notice);
		this.write(event, text, text);
		this.newest = event;
		return event;
	}

	/** The same for a notice. The newest other event stays the one that the synchronous calls read, with this notice. */
	notify(message: OutgoingNotice, timestamp: number): NoticeEvent {
		const event = { ...message, sequence: this.sent + 1, timestamp };
		const { sequence, deadline, source, reason } = event;
		const notice = { sequence, deadline, source, reason };
		const text = encodeEvent(event);
		this.write(
			event,
			text,
			this.newest ? encodeEvent(this.newest, notice) : text,
		);
		this.notice = notice;
		return event;
	}

	/** Wakes the worker, which may take a processor at once. */
	ring(): void {
		ringDoorbell(this.doorbell);
	}

	/** Makes the empty file of the first event early; throws the system's error. */
	prepareFirstEvent(): void {
		this.blank ??= writeTemporary(this.paths.temporary, "");
	}

	/** Makes the directory of the worker's hook, unless it is made, and returns its path. Throws CHANNEL if it cannot. */
	makeHook(): string {
		try {
			if (!this.hasHook) mkdirSync(this.paths.hook, { mode: 0o700 });
			this.hasHook = true;
		} catch (error) {
			throw channelFailure(this.paths.hook, error);
		}
		return this.paths.hook;
	}

	/** The path of the FIFO that wakes the worker, once it is installed. */
	get doorbell(): string {
		return this.paths.doorbell;
	}

	get replies(): string {
		return this.paths.replies;
	}

	/** Whether all that a worker needs of it exists. */
	get isWhole(): boolean {
		const { events, replies, temporary, hook } = this.paths;
		const blank = this.blank === undefined ? [] : [this.blank];
		const ofHook = this.hasHook ? [hook] : [];
		return [events, replies, temporary, ...ofHook, ...blank].every((path) =>
			existsSync(path),
		);
	}

	/** Removes the directory tree. What cannot be removed goes with the agent's directory, which then reports it. */
	remove(): void {
		this.forget();
		this.removeSocketElsewhere();
		try {
			removeTree(this.directory);
		} catch {
			// The run can go on without this removal.
		}
	}

	/** The same while other work goes on: a worker may leave many thousand files. */
	async removeAside(): Promise<void> {
		this.forget();
		this.removeSocketElsewhere();
		await removeTreeAside(this.directory).catch(() => {});
	}

	/** Removes the one thing of a worker that may lie outside of its channel. */
	removeSocketElsewhere(): void {
		removeShortSocket(this.paths.hook);
	}

	private write({ sequence }: ChannelEvent, text: string, latest: string) {
		requireMessageSize(text, `event ${sequence} for ${this.directory}`);
		try {
			this.publish(sequence, text, latest);
		} catch (error) {
			throw channelFailure(this.directory, error);
		}
		this.prune(sequence - KEPT_EVENTS);
	}

	/** Both files are ready before either has its name, so that a full disk leaves neither. */
	private publish(sequence: number, text: string, latestText: string): void {
		const { events, latest, temporary } = this.paths;
		const blank = this.blank;
		this.blank = undefined;
		const event = blank ?? writeTemporary(temporary, text);
		let newest = `${event}.latest`;
		try {
			if (blank !== undefined) fillTemporary(blank, text);
			if (latestText === text) linkSync(event, newest);
			else newest = writeTemporary(temporary, latestText);
			renameSync(event, join(events, messageFileName(sequence)));
			this.sent = sequence;
			renameSync(newest, latest);
		} catch (error) {
			for (const path of [event, newest]) rmSync(path, { force: true });
			throw error;
		}
	}

	private prune(sequence: number): void {
		if (sequence < 1) return;
		rmSync(join(this.paths.events, messageFileName(sequence)), {
			force: true,
		});
	}
}
