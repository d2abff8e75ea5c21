import { constants } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { messageOf, systemErrorCode } from "../../base/errors.js";
import type { Notice } from "../notice.js";
import { PollLoop } from "./poll-loop.js";
import { readNoticeFile } from "./read-notice-file.js";
import type { OpenSource, SourceContext } from "./source.js";
import { TellChanges } from "./tell-changes.js";

const LOOK_EVERY_MS = 250;
/** What is read of a file. */
const MOST_BYTES = 1_024;
const ABSENT: readonly string[] = ["ENOENT", "ENOTDIR"];
/** A pipe without a writer holds nobody up. */
const OPEN_TO_READ = constants.O_RDONLY | constants.O_NONBLOCK;

/** A file whose appearance is a notice; its removal withdraws it. */
export class NoticeFileSource implements OpenSource {
	private readonly loop: PollLoop;
	private readonly tell: TellChanges;
	/** The file as it was read, so that it is read once. */
	private seen: string | undefined;

	constructor(
		private readonly path: string,
		private readonly context: SourceContext,
	) {
		this.tell = new TellChanges(
			{ source: "file", origin: path },
			context.listener,
		);
		this.loop = new PollLoop({
			...context,
			name: `the file ${path}`,
			everyMs: LOOK_EVERY_MS,
			look: () => this.look(),
		});
		this.loop.start();
	}

	close(): void {
		this.loop.close();
	}

	private async look(): Promise<void> {
		const now = await this.identity();
		if (now === this.seen) return;
		const notice = now === undefined ? undefined : await this.read();
		this.seen = now;
		this.tell.notice(notice, `the file ${this.path} was removed`);
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
			const { deadline, reason } = readNoticeFile(text, clock.wallTime());
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
