import { constants } from "node:fs";
import { open, stat } from "node:fs/promises";
import type { LogDirectory, LogStream } from "../logs/log-directory.js";
import { plainLines } from "../logs/plain-text.js";

/** A pipe or a link that a worker left in place of its file neither blocks nor misleads. */
const READ_ONLY =
	constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const LAST_BYTES = 16 * 1024;
const MOST_LINES = 20;
const MOST_CHARACTERS = 500;
const NEWLINE = 0x0a;

/** The end of one file, as it was read last. */
interface Tail {
	readonly stream: LogStream;
	readonly size: number;
	/** When it was written last, in milliseconds since 1970. */
	readonly writtenAt: number;
	readonly lines: readonly string[];
}

/**
 * What the workers wrote last. Their files are read when somebody asks, and
 * again only where they have grown; no byte passes through here otherwise.
 */
export class WorkerLines {
	/** By local rank: of the newest worker there. */
	private readonly tails = new Map<number, readonly Tail[]>();

	/** The same directory, which tells of each worker's files. */
	noting(logs: LogDirectory): LogDirectory {
		return {
			directory: logs.directory,
			agentLog: logs.agentLog,
			openWorker: (round, localRank, redirect) => {
				const opened = logs.openWorker(round, localRank, redirect);
				const streams = [opened.stdout, opened.stderr];
				const tails = streams
					.filter((stream) => stream !== undefined)
					.map((stream) => ({ stream, size: -1, writtenAt: 0, lines: [] }));
				this.tails.set(localRank, tails);
				return opened;
			},
			createAhead: (localRank, redirect) =>
				logs.createAhead(localRank, redirect),
			discardUnused: () => logs.discardUnused(),
		};
	}

	/** The last lines of a worker; none where its streams do not go to files. Never rejects. */
	async of(localRank: number): Promise<readonly string[]> {
		const known = this.tails.get(localRank) ?? [];
		const tails = await Promise.all(known.map(readAgain));
		// Meanwhile another worker may have begun.
		if (this.tails.get(localRank) === known) this.tails.set(localRank, tails);
		return lastOf(tails);
	}
}

/**
 * The last lines of both of a worker's files, which have no times: those of the
 * file that was written last stand last, and leave the other one half the room.
 */
function lastOf(tails: readonly Tail[]): readonly string[] {
	const [later, earlier] = [...tails].sort(
		(left, right) => right.writtenAt - left.writtenAt,
	);
	const rest = (earlier?.lines ?? []).slice(-MOST_LINES / 2);
	const last = (later?.lines ?? []).slice(rest.length - MOST_LINES);
	const room = MOST_LINES - last.length;
	return [...(earlier?.lines ?? []).slice(-room), ...last];
}

async function readAgain(tail: Tail): Promise<Tail> {
	const { path, startBytes } = tail.stream;
	try {
		const { size, mtimeMs } = await stat(path);
		if (size === tail.size) return tail;
		const lines = await readLast(path, startBytes);
		return { ...tail, size, writtenAt: mtimeMs, lines };
	} catch {
		// It is not there any more, or cannot be read: what was read stays.
		return tail;
	}
}

/** @param from bytes before it are of an earlier process */
async function readLast(
	path: string,
	from: number,
): Promise<readonly string[]> {
	const file = await open(path, READ_ONLY);
	try {
		const { size } = await file.stat();
		const start = Math.max(from, size - LAST_BYTES);
		const { buffer, bytesRead } = await file.read(
			Buffer.alloc(Math.max(0, size - start)),
			{ position: start },
		);
		const bytes = buffer.subarray(0, bytesRead);
		// The first line is only a piece, unless it is the only one.
		const cut = start > from ? bytes.indexOf(NEWLINE) + 1 : 0;
		const whole = cut < bytes.length ? bytes.subarray(cut) : bytes;
		return plainLines(whole).slice(-MOST_LINES).map(shorten);
	} finally {
		await file.close();
	}
}

/** Never between the two halves of a character. */
function shorten(line: string): string {
	if (line.length <= MOST_CHARACTERS) return line;
	return `${line.slice(0, MOST_CHARACTERS - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
