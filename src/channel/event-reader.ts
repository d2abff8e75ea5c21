import { existsSync, readdirSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { messageOf, systemErrorCode } from "../base/errors.js";
import { type DecodedEvent, decodeEvent } from "./codec.js";
import type { ChannelEvent, NoticeState, WorkerEvent } from "./events.js";
import {
	type ChannelPaths,
	channelPaths,
	messageFileName,
	sequencesIn,
} from "./layout.js";
import { isPassing, readMessage } from "./message-file.js";
import { channelError } from "./problems.js";

/** Why there is no event: no file; a file that never will be an event; a file that the system cannot read now. */
type Unread = "absent" | "broken" | "unavailable";

/**
 * The worker's view of its channel. It uses no notifications and keeps no handles: each call looks at the disk. It skips
 * a file that is no valid event and passes the reason to `warn`.
 */
export class EventReader {
	private readonly paths: ChannelPaths;
	private readonly warn: (message: string) => void;
	private latestStat: Stats | undefined;
	private newestEvent: WorkerEvent | undefined;
	private newestNotice: NoticeState | undefined;
	/** The last event of any kind that was read, and the path of the one after it. */
	private last = 0;
	private following = "";
	/** The event after which there was no other, and latest.json as it was before that look. */
	private end: { readonly after: number; readonly latest: Stats } | undefined;

	constructor(directory: string, warn: (message: string) => void) {
		this.paths = channelPaths(directory);
		this.warn = warn;
	}

	/**
	 * The newest event that is no notice, never older than one already seen. Costs two stats if nothing has changed. Throws
	 * CHANNEL if there is none at all.
	 */
	newest(): WorkerEvent {
		const stat = this.statLatest();
		if (!isSameFile(stat, this.latestStat)) this.readLatest(stat);
		if (this.newestEvent === undefined) this.readAllKept();
		else if (this.mayHaveMore(stat)) this.follow();
		if (this.newestEvent !== undefined) return this.newestEvent;
		throw channelError(this.paths.directory, "it holds no event");
	}

	/** The newest notice, if there was any. Costs and throws as `newest`. */
	notice(): NoticeState | undefined {
		this.newest();
		return this.newestNotice;
	}

	/**
	 * The event after this sequence, if there is one. Costs two stats if nothing has changed. If it was pruned, it warns
	 * and returns the oldest event that is kept. Throws CHANNEL if the directory is gone.
	 */
	next(after: number): ChannelEvent | undefined {
		const latest = this.statLatest();
		if (this.isStillEnd(after, latest)) return undefined;
		let sequence = after + 1;
		for (;;) {
			const found = this.readEvent(sequence);
			if (typeof found === "object") return this.seen(found);
			if (found === "unavailable") return undefined;
			if (found === "broken") {
				sequence += 1;
				continue;
			}
			// Events appear in order and the oldest are removed first. If a later one is listed, this one existed, and may be
			// gone again.
			const oldest = this.sequencesAfter(sequence - 1)[0];
			if (oldest === undefined) {
				this.end = latest && { after, latest };
				return undefined;
			}
			if (oldest > sequence && !existsSync(this.eventPath(sequence))) {
				this.warn(
					`Events ${sequence} to ${oldest - 1} of ${this.paths.directory} were removed before this process read them: it fell too far behind.`,
				);
				sequence = oldest;
			}
		}
	}

	/** An event gets its name before latest.json is replaced, so an unchanged latest.json also rules out pruned events. */
	private isStillEnd(after: number, latest: Stats | undefined): boolean {
		const isAsBefore =
			latest !== undefined &&
			this.end?.after === after &&
			isSameFile(latest, this.end.latest);
		return isAsBefore && !existsSync(this.eventPath(after + 1));
	}

	private statLatest(): Stats | undefined {
		return statSync(this.paths.latest, { throwIfNoEntry: false });
	}

	private readLatest(stat: Stats | undefined): void {
		const latest = this.read(this.paths.latest);
		if (latest === "unavailable") return;
		this.latestStat = typeof latest === "object" ? latest.stat : stat;
		if (typeof latest === "object") this.seen(latest);
	}

	/** After the whole channel is gone, what was seen stays true. */
	private mayHaveMore(latest: Stats | undefined): boolean {
		return latest === undefined
			? existsSync(this.paths.events)
			: existsSync(this.following);
	}

	/** An event gets its name before latest.json is replaced, and the agent may die in between. */
	private follow(): void {
		while (this.next(this.last) !== undefined);
	}

	private readAllKept(): void {
		for (const sequence of this.sequencesAfter(0)) {
			const event = this.readEvent(sequence);
			if (typeof event === "object") this.seen(event);
		}
	}

	private seen({ event, notice }: DecodedEvent): ChannelEvent {
		const isRound = event.kind !== "NOTICE";
		if (isRound && event.sequence > (this.newestEvent?.sequence ?? 0)) {
			this.newestEvent = event;
		}
		if (notice && notice.sequence > (this.newestNotice?.sequence ?? 0)) {
			this.newestNotice = notice;
		}
		// Between the newest event and a later notice beside it there are only notices.
		const last = Math.max(event.sequence, notice?.sequence ?? 0);
		if (last > this.last) {
			this.last = last;
			this.following = this.eventPath(last + 1);
		}
		return event;
	}

	private readEvent(sequence: number): DecodedEvent | Unread {
		const path = this.eventPath(sequence);
		const found = this.read(path);
		if (typeof found === "string") return found;
		if (found.event.sequence === sequence) return found;
		this.warn(`${path} holds event ${found.event.sequence}; it is skipped.`);
		return "broken";
	}

	private read(path: string): (DecodedEvent & { stat: Stats }) | Unread {
		try {
			const file = readMessage(path);
			if (file === undefined) return "absent";
			return { ...decodeEvent(file.text), stat: file.stat };
		} catch (error) {
			this.warn(`${path} cannot be read as an event: ${messageOf(error)}.`);
			return isPassing(error) ? "unavailable" : "broken";
		}
	}

	private sequencesAfter(after: number): number[] {
		return sequencesIn(this.list()).filter((sequence) => sequence > after);
	}

	private list(): string[] {
		try {
			return readdirSync(this.paths.events);
		} catch (error) {
			if (systemErrorCode(error) !== "ENOENT") throw error;
			throw channelError(
				this.paths.directory,
				"it is gone: its agent has ended or was killed",
				error,
			);
		}
	}

	private eventPath(sequence: number): string {
		return join(this.paths.events, messageFileName(sequence));
	}
}

function isSameFile(a: Stats | undefined, b: Stats | undefined): boolean {
	return a?.ino === b?.ino && a?.mtimeMs === b?.mtimeMs && a?.size === b?.size;
}
