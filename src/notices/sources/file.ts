import { constants } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { messageOf, systemErrorCode } from "../../base/errors.js";
import type { Notice } from "../../model/index.js";
import { knownTime, wordIn } from "./parse-json.js";
import type { PolledValue, Reading, SourceContext } from "./source.js";

const MOST_BYTES = 1_024;
const ABSENT: readonly string[] = ["ENOENT", "ENOTDIR"];
/** A pipe without a writer holds nobody up. */
const OPEN_TO_READ = constants.O_RDONLY | constants.O_NONBLOCK;

/** A file whose appearance is a notice; its removal withdraws it. */
export class NoticeFile implements PolledValue {
	readonly source = "file";
	readonly origin: string;
	readonly name: string;
	readonly everyMs = 250;
	readonly withdrawn: string;
	/** The file as it was read, so that it is read once. */
	private seen: string | undefined;

	constructor(
		private readonly path: string,
		private readonly context: Pick<SourceContext, "clock" | "log">,
	) {
		this.origin = path;
		this.name = `the file ${path}`;
		this.withdrawn = `the file ${path} was removed`;
	}

	async poll(): Promise<Reading | "unchanged"> {
		const now = await this.identity();
		if (now === this.seen) return "unchanged";
		const notice = now === undefined ? undefined : await this.read();
		this.seen = now;
		return { notice };
	}

	/** Changes with the file; undefined: there is none. */
	private async identity(): Promise<string | undefined> {
		try {
			const { dev, ino, size, mtimeMs } = await stat(this.path);
			return [dev, ino, size, mtimeMs].join(" ");
		} catch (error) {
			if (ABSENT.includes(systemErrorCode(error) ?? "")) return undefined;
			throw error;
		}
	}

	private async read(): Promise<Notice> {
		const { clock, log } = this.context;
		const there = `the file ${this.path} is there`;
		try {
			const text = await readStart(this.path);
			const { deadline, reason } = readNoticeText(text, clock.wallTime());
			const why = reason === undefined ? there : `${there}: ${reason}`;
			return { source: "file", reason: why, deadline };
		} catch (error) {
			// It is a notice all the same.
			log.warn(`${there}, but cannot be read: ${messageOf(error)}`);
			return { source: "file", reason: there, deadline: undefined };
		}
	}
}

async function readStart(path: string): Promise<string> {
	let file: FileHandle | undefined;
	try {
		file = await open(path, OPEN_TO_READ);
		const { buffer, bytesRead } = await file.read(
			Buffer.alloc(MOST_BYTES),
			...[0, MOST_BYTES],
		);
		return buffer.subarray(0, bytesRead).toString();
	} finally {
		await file?.close();
	}
}

const SECONDS = /^\d{1,9}(\.\d+)?$/;
/** A date and perhaps a time; a zone may follow. */
const ISO =
	/^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)? ?(Z|[+-]\d\d:?\d\d)?)?$/i;

interface NoticeText {
	/** In milliseconds since 1970; undefined if the file names none. */
	readonly deadline: number | undefined;
	/** The lines after the first one, or after none that is a deadline. */
	readonly reason: string | undefined;
}

/**
 * The first line of a notice's file may be a deadline: seconds from now, or an ISO time. What follows is the reason.
 * @param wallTime milliseconds since 1970
 */
export function readNoticeText(text: string, wallTime: number): NoticeText {
	const [first = "", ...others] = text.split("\n").map((line) => line.trim());
	const deadline = readDeadline(first, wallTime);
	const words = deadline === undefined ? [first, ...others] : others;
	const reason = wordIn(words.filter((line) => line !== "").join(", "));
	return { deadline, reason: reason === "" ? undefined : reason };
}

function readDeadline(line: string, wallTime: number): number | undefined {
	if (SECONDS.test(line)) return wallTime + Number(line) * 1_000;
	return ISO.test(line) ? knownTime(Date.parse(line)) : undefined;
}
