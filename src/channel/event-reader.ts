import { existsSync, readdirSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { messageOf, systemErrorCode } from "../errors.js";
import { channelError } from "./channel-error.js";
import { decodeEvent } from "./codec.js";
import type { WorkerEvent } from "./events.js";
import {
	type ChannelPaths,
	channelPaths,
	messageFileName,
	sequencesIn,
} from "./layout.js";
import { isPassing, readMessage } from "./message-file.js";

/** Why there is no event: no file; a file that never will be one; one that the system does not give us just now. */
type Unread = "absent" | "broken" | "unavailable";

/**
 * The worker's view of its channel. It takes no notification and keeps no
 * handle: each call looks at the disk. A file that cannot be read as an event
 * is skipped, and `warn` is told why.
 */
export class EventReader {
	readonly #paths: ChannelPaths;
	readonly #warn: (message: string) => void;
	#latestStat: Stats | undefined;
	#newest: WorkerEvent | undefined;
	#following = "";
	/** After which event there was nothing, and latest.json as it was before that was looked for. */
	#end: { readonly after: number; readonly latest: Stats } | undefined;

	constructor(directory: string, warn: (message: string) => void) {
		this.#paths = channelPaths(directory);
		this.#warn = warn;
	}

	/**
	 * The newest event: two stats where nothing has changed. Once an event was
	 * seen, never an older one. Throws CHANNEL where there is none at all.
	 */
	newest(): WorkerEvent {
		const stat = this.#statLatest();
		if (!isSameFile(stat, this.#latestStat)) this.#readLatest(stat);
		if (this.#newest === undefined) this.#readAllKept();
		else if (this.#mayHaveMore(stat)) this.#follow();
		if (this.#newest !== undefined) return this.#newest;
		throw channelError(this.#paths.directory, "it holds no event");
	}

	/**
	 * The event after the one with this sequence, if it is there: two stats where
	 * nothing has changed since the last look. Where it has
	 * been pruned already, `warn` is told and the oldest one that is kept
	 * follows. Throws CHANNEL where the directory is gone.
	 */
	next(after: number): WorkerEvent | undefined {
		const latest = this.#statLatest();
		if (this.#isStillEnd(after, latest)) return undefined;
		let sequence = after + 1;
		for (;;) {
			const found = this.#readEvent(sequence);
			if (typeof found === "object") return this.#seen(found);
			if (found === "unavailable") return undefined;
			if (found === "broken") {
				sequence += 1;
				continue;
			}
			// Events appear in order and the oldest are removed first: where a later
			// one is listed, this one has appeared, and may be gone again.
			const oldest = this.#sequencesAfter(sequence - 1)[0];
			if (oldest === undefined) {
				this.#end = latest && { after, latest };
				return undefined;
			}
			if (oldest > sequence && !existsSync(this.#eventPath(sequence))) {
				this.#warn(
					`Events ${sequence} to ${oldest - 1} of ${this.#paths.directory} were removed before this process read them: it fell too far behind.`,
				);
				sequence = oldest;
			}
		}
	}

	/** An event gets its name before latest.json is replaced, which also tells of those that are gone already. */
	#isStillEnd(after: number, latest: Stats | undefined): boolean {
		const isAsBefore =
			latest !== undefined &&
			this.#end?.after === after &&
			isSameFile(latest, this.#end.latest);
		return isAsBefore && !existsSync(this.#eventPath(after + 1));
	}

	#statLatest(): Stats | undefined {
		return statSync(this.#paths.latest, { throwIfNoEntry: false });
	}

	#readLatest(stat: Stats | undefined): void {
		const latest = this.#read(this.#paths.latest);
		if (latest === "unavailable") return;
		this.#latestStat = typeof latest === "object" ? latest.stat : stat;
		if (typeof latest === "object") this.#seen(latest.event);
	}

	/** What was seen stays true where the whole channel is gone. */
	#mayHaveMore(latest: Stats | undefined): boolean {
		return latest === undefined
			? existsSync(this.#paths.events)
			: existsSync(this.#following);
	}

	/** An event file gets its name before latest.json is replaced, and the agent may die between the two. */
	#follow(): void {
		let event = this.#newest;
		while (event !== undefined) event = this.next(event.sequence);
	}

	#readAllKept(): void {
		for (const sequence of this.#sequencesAfter(0)) {
			const event = this.#readEvent(sequence);
			if (typeof event === "object") this.#seen(event);
		}
	}

	#seen(event: WorkerEvent): WorkerEvent {
		if (event.sequence > (this.#newest?.sequence ?? 0)) {
			this.#newest = event;
			this.#following = this.#eventPath(event.sequence + 1);
		}
		return event;
	}

	#readEvent(sequence: number): WorkerEvent | Unread {
		const path = this.#eventPath(sequence);
		const found = this.#read(path);
		if (typeof found === "string") return found;
		if (found.event.sequence === sequence) return found.event;
		this.#warn(`${path} holds event ${found.event.sequence}; it is skipped.`);
		return "broken";
	}

	#read(path: string): { event: WorkerEvent; stat: Stats } | Unread {
		try {
			const file = readMessage(path);
			if (file === undefined) return "absent";
			return { event: decodeEvent(file.text), stat: file.stat };
		} catch (error) {
			this.#warn(`${path} cannot be read as an event: ${messageOf(error)}.`);
			return isPassing(error) ? "unavailable" : "broken";
		}
	}

	#sequencesAfter(after: number): number[] {
		return sequencesIn(this.#list()).filter((sequence) => sequence > after);
	}

	#list(): string[] {
		try {
			return readdirSync(this.#paths.events);
		} catch (error) {
			if (systemErrorCode(error) !== "ENOENT") throw error;
			throw channelError(
				this.#paths.directory,
				"it is gone: its agent has ended or was killed",
				error,
			);
		}
	}

	#eventPath(sequence: number): string {
		return join(this.#paths.events, messageFileName(sequence));
	}
}

function isSameFile(a: Stats | undefined, b: Stats | undefined): boolean {
	return a?.ino === b?.ino && a?.mtimeMs === b?.mtimeMs && a?.size === b?.size;
}
