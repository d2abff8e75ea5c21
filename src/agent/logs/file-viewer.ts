import type { Clock } from "../../clock.js";
import type { ConsoleTarget } from "./console-target.js";
import type { FollowedFile } from "./followed-file.js";
import { NEWLINE } from "./line-limits.js";
import { LineRenderer } from "./line-renderer.js";
import { type Eagerness, showableEnd } from "./line-splitter.js";

/** What is read of one file before the next has its turn: the bound on memory. */
const CHUNK_BYTES = 256 * 1024;
/** How often the state of a progress bar is shown that has not ended its line. */
const PROGRESS_INTERVAL_MS = 5_000;
const MEBIBYTE = 1024 * 1024;
/** What a terminal may lag behind before it skips, and what it then still shows. */
const LONGEST_LAG_BYTES = 16 * MEBIBYTE;
const KEPT_BYTES = MEBIBYTE;

/** `same`: nothing new; `changed`: the file grew, all is shown that can be; `more`: the next chunk waits. */
export type Turn = "same" | "changed" | "more";

/** Shows one chunk of one file at a time. */
export class FileViewer {
	readonly #clock: Clock;
	readonly #terminals: ReadonlySet<ConsoleTarget>;
	readonly #chunk = Buffer.allocUnsafe(CHUNK_BYTES);
	readonly #renderer = new LineRenderer();

	constructor(clock: Clock, terminals: ReadonlySet<ConsoleTarget>) {
		this.#clock = clock;
		this.#terminals = terminals;
	}

	/** Whether a turn of a file of this size would do anything. */
	isDue(file: FollowedFile, size: number): boolean {
		return !isWaiting(file, size) || this.#progressDue(file, size);
	}

	/** One turn of a file, which has this size; rejects where the file cannot be read. */
	async show(file: FollowedFile, size: number): Promise<Turn> {
		const { mark } = file;
		// Emptied from outside (copytruncate): appending goes on from the start.
		if (size < file.position) file.position = 0;
		const progressDue = this.#progressDue(file, size);
		const waiting = isWaiting(file, size);
		const end = Math.min(size, mark ?? size);
		if (file.target.lost) file.position = end;
		await this.#skipOnTerminal(file, end);
		const eagerness = progressDue ? "progress" : "lines";
		const more = await this.#showChunk(
			file,
			end,
			mark === undefined ? eagerness : "everything",
		);
		file.settledSize = more ? -1 : size;
		// A mark that was set meanwhile is for the next turn.
		if (!more && mark === file.mark) file.settle();
		if (more) return "more";
		return waiting ? "same" : "changed";
	}

	/** Shows what can be shown of the next chunk; returns whether another one waits. */
	async #showChunk(
		file: FollowedFile,
		end: number,
		eagerness: Eagerness,
	): Promise<boolean> {
		if (file.position >= end) return false;
		const bytes = file.read(this.#chunk, end - file.position);
		const last = file.position + bytes >= end;
		// Only the very last line may be shown before it is finished.
		const early = eagerness === "everything" && !last;
		file.position += await this.#showLines(
			file,
			bytes,
			early ? "lines" : eagerness,
		);
		file.shownAt = this.#clock.now();
		return !last && bytes > 0;
	}

	async #showLines(
		file: FollowedFile,
		bytes: number,
		eagerness: Eagerness,
	): Promise<number> {
		const chunk = this.#chunk.subarray(0, bytes);
		let at = file.torn ? chunk.indexOf(NEWLINE) + 1 : 0;
		file.torn = false;
		for (;;) {
			const end = showableEnd(chunk, at, bytes, eagerness);
			if (end === at) return at;
			await this.#write(file, chunk, at, end);
			at = end;
		}
	}

	async #write(
		file: FollowedFile,
		source: Buffer,
		start: number,
		end: number,
	): Promise<void> {
		const style = { prefix: file.prefix, colours: true };
		for (let at = start; at < end && !file.target.lost; ) {
			at = this.#renderer.render(source, at, end, style);
			await file.target.write(this.#renderer.output());
		}
	}

	/** Whether a line waits that may be a progress bar, and nothing was shown for long. */
	#progressDue(file: FollowedFile, size: number): boolean {
		const quietMs = this.#clock.now() - file.shownAt;
		return size > file.position && quietMs >= PROGRESS_INTERVAL_MS;
	}

	async #skipOnTerminal(file: FollowedFile, end: number): Promise<void> {
		const lag = end - file.position;
		if (lag <= LONGEST_LAG_BYTES || !this.#terminals.has(file.target)) return;
		const mebibytes = Math.floor((lag - KEPT_BYTES) / MEBIBYTE);
		const notice = Buffer.from(
			`… ${mebibytes} MiB not shown, see ${file.path}\n`,
		);
		file.position = end - KEPT_BYTES;
		file.torn = true;
		await this.#write(file, notice, 0, notice.length);
	}
}

/** Nothing has come since all was shown that can be, and nobody asks for more. */
function isWaiting(file: FollowedFile, size: number): boolean {
	return size === file.settledSize && file.mark === undefined;
}
