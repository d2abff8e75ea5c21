import type { Clock } from "../base/clock.js";
import type { ConsoleTarget } from "./console-target.js";
import { endOfSequence } from "./control-sequences.js";
import type { FileWarnings } from "./file-warnings.js";
import type { FollowedFile } from "./followed-file.js";
import {
	CARRIAGE_RETURN,
	ESCAPE,
	LONGEST_SHOWN_LINE_BYTES,
	NEWLINE,
} from "./line-limits.js";
import { LineRenderer } from "./line-renderer.js";
import { endBeforeOpenStack } from "./shown-stacks.js";
import { cutBetweenCharacters } from "./utf8.js";

/** How much is read of one file per turn: this limits memory use. */
const CHUNK_BYTES = 256 * 1024;
/** How often an unfinished progress bar is shown. */
const PROGRESS_INTERVAL_MS = 5_000;
const MEBIBYTE = 1024 * 1024;
/** How far a terminal may lag before output is skipped, and how much is shown then. */
const LONGEST_LAG_BYTES = 16 * MEBIBYTE;
const KEPT_BYTES = MEBIBYTE;

/** `same`: nothing new; `changed`: the file grew and all of it is shown; `more`: another chunk is left. */
export type Turn = "same" | "changed" | "more";

/** Shows one chunk of one file at a time. */
export class FileViewer {
	private readonly clock: Clock;
	private readonly terminals: ReadonlySet<ConsoleTarget>;
	private readonly chunk = Buffer.allocUnsafe(CHUNK_BYTES);
	private readonly renderer = new LineRenderer();

	constructor(
		clock: Clock,
		terminals: ReadonlySet<ConsoleTarget>,
		private readonly warnings: Pick<FileWarnings, "emptied">,
	) {
		this.clock = clock;
		this.terminals = terminals;
	}

	/** Whether a turn of a file of this size would have an effect. */
	isDue(file: FollowedFile, size: number): boolean {
		return !isWaiting(file, size) || this.progressDue(file, size);
	}

	/** One turn of a file with this size. Rejects if the file cannot be read. */
	async show(file: FollowedFile, size: number): Promise<Turn> {
		const { mark } = file;
		// Emptied (copytruncate, "> /dev/stderr"): it grows again from the start.
		if (file.wasEmptied(size)) {
			file.jumpTo(0);
			this.warnings.emptied(file.path);
		}
		const progressDue = this.progressDue(file, size);
		const waiting = isWaiting(file, size);
		const end = Math.min(size, mark ?? size);
		if (file.target.lost) file.jumpTo(end);
		await this.skipOnTerminal(file, end);
		const eagerness = progressDue ? "progress" : "lines";
		const more = await this.showChunk(
			file,
			end,
			mark === undefined ? eagerness : "everything",
		);
		file.settledSize = more ? -1 : size;
		// A mark set in the meantime is for the next turn.
		if (!more && mark === file.mark) file.settle();
		if (more) return "more";
		return waiting ? "same" : "changed";
	}

	/** Shows what can be shown of the next chunk; returns whether another one is left. */
	private async showChunk(
		file: FollowedFile,
		end: number,
		eagerness: Eagerness,
	): Promise<boolean> {
		if (file.position >= end) return false;
		const bytes = file.read(this.chunk, end - file.position);
		const last = file.position + bytes >= end;
		// Only the very last line may be shown before it is finished.
		const early = eagerness === "everything" && !last;
		const shown = await this.showLines(
			file,
			bytes,
			early ? "lines" : eagerness,
		);
		file.advance(this.chunk.subarray(0, shown));
		file.shownAt = this.clock.now();
		return !last && bytes > 0;
	}

	private async showLines(
		file: FollowedFile,
		bytes: number,
		eagerness: Eagerness,
	): Promise<number> {
		const chunk = this.chunk.subarray(0, bytes);
		let at = file.torn ? chunk.indexOf(NEWLINE) + 1 : 0;
		file.torn = false;
		for (;;) {
			const end = showableEnd(chunk, at, bytes, eagerness);
			const lines = chunk.subarray(at, end);
			const length =
				eagerness === "lines" ? endBeforeOpenStack(lines) : lines.length;
			if (length === 0) return at;
			const shown = file.target.stacks.shorten(
				lines.subarray(0, length),
				file.owner,
			);
			await this.write(file, shown, 0, shown.length);
			at += length;
		}
	}

	private async write(
		file: FollowedFile,
		source: Buffer,
		start: number,
		end: number,
	): Promise<void> {
		const style = { prefix: file.prefix, colours: true };
		for (let at = start; at < end && !file.target.lost; ) {
			at = this.renderer.render(source, at, end, style);
			await file.target.write(this.renderer.output());
		}
	}

	/** Whether an unfinished line, perhaps a progress bar, has waited long enough. */
	private progressDue(file: FollowedFile, size: number): boolean {
		const quietMs = this.clock.now() - file.shownAt;
		return size > file.position && quietMs >= PROGRESS_INTERVAL_MS;
	}

	private async skipOnTerminal(file: FollowedFile, end: number): Promise<void> {
		const lag = end - file.position;
		if (lag <= LONGEST_LAG_BYTES || !this.terminals.has(file.target)) return;
		const mebibytes = Math.floor((lag - KEPT_BYTES) / MEBIBYTE);
		const notice = Buffer.from(
			`… ${mebibytes} MiB not shown, see ${file.path}\n`,
		);
		file.jumpTo(end - KEPT_BYTES);
		file.torn = true;
		await this.write(file, notice, 0, notice.length);
	}
}

/** Everything that can be shown is shown, and no flush is pending. */
function isWaiting(file: FollowedFile, size: number): boolean {
	return size === file.settledSize && file.mark === undefined;
}

/** `lines`: whole lines only; `progress`: also a progress bar's newest state; `everything`: also the unfinished last line. */
export type Eagerness = "lines" | "progress" | "everything";

/** How far before a cut a control sequence can begin that the cut would split. */
const LONGEST_TORN_SEQUENCE_BYTES = 64;

/**
 * The end of what can be shown of chunk[start, end); `start` if it must wait for more. A line beyond the limit is shown
 * in pieces, cut between characters, and in a progress bar between its states.
 */
export function showableEnd(
	chunk: Buffer,
	start: number,
	end: number,
	eagerness: Eagerness,
): number {
	const bytes = chunk.subarray(start, end);
	const newline = bytes.lastIndexOf(NEWLINE);
	if (newline >= 0) return start + newline + 1;
	const tooLong = bytes.length >= LONGEST_SHOWN_LINE_BYTES;
	if (eagerness === "everything" && !tooLong) return end;
	if (eagerness === "lines" && !tooLong) return start;
	const limit = Math.min(end, start + LONGEST_SHOWN_LINE_BYTES);
	const state = chunk.subarray(start, limit).lastIndexOf(CARRIAGE_RETURN);
	if (state > 0) return start + state;
	return tooLong ? cutBetweenSequences(chunk, start, limit) : start;
}

function cutBetweenSequences(
	chunk: Buffer,
	start: number,
	limit: number,
): number {
	const from = limit - LONGEST_TORN_SEQUENCE_BYTES;
	const opener = chunk.subarray(from, limit).lastIndexOf(ESCAPE);
	const torn =
		opener >= 0 && endOfSequence(chunk, from + opener, limit) === limit;
	return torn ? from + opener : cutBetweenCharacters(chunk, start, limit);
}
