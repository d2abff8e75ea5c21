import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { FILE_PROBLEMS } from "./access-problem.js";
import { systemClock } from "./clock.js";
import { messageOf, systemErrorCode } from "./errors.js";

/** More than settings, tokens or certificates need. */
const LARGEST_BYTES = 1024 * 1024;

/** How long a silent pipe may delay its reader, and how often it is read, in milliseconds. */
const PIPE_WITHIN_MS = 5_000;
const PIPE_EVERY_MS = 10;

/** Without O_NONBLOCK, opening a pipe without a writer would wait for ever. */
const OPEN_TO_READ = constants.O_RDONLY | constants.O_NONBLOCK;

/**
 * Reads a file that the user has named, or says what is wrong with it and how to fix it. The file may be a pipe, as
 * `<(command)` is, but not one that stays silent or has no end.
 */
export async function readSmallFile(
	path: string,
): Promise<{ readonly content: Buffer } | { readonly problem: string }> {
	let file: FileHandle | undefined;
	try {
		file = await open(path, OPEN_TO_READ);
		const content = await readAll(file);
		if (content === "silent") {
			return {
				problem: `is a pipe out of which nothing came for ${PIPE_WITHIN_MS / 1000} s; give a file`,
			};
		}
		if (content.length > LARGEST_BYTES) {
			return { problem: "has more than 1 MiB; give a smaller file" };
		}
		return { content };
	} catch (error) {
		return {
			problem: READ_PROBLEMS[systemErrorCode(error) ?? ""] ?? messageOf(error),
		};
	} finally {
		await file?.close();
	}
}

const READ_PROBLEMS: Readonly<Record<string, string>> = {
	ENOENT: FILE_PROBLEMS.missing,
	ENOTDIR: FILE_PROBLEMS.missing,
	EISDIR: FILE_PROBLEMS.directory,
	EACCES: FILE_PROBLEMS.denied,
};

/** Reads at most a few bytes beyond the limit. */
async function readAll(file: FileHandle): Promise<Buffer | "silent"> {
	const room = Buffer.alloc(LARGEST_BYTES + 1);
	const isPipe = (await file.stat()).isFIFO();
	let length = 0;
	let waitedMs = 0;
	while (length < room.length && waitedMs < PIPE_WITHIN_MS) {
		const bytesRead = await readSome(file, room.subarray(length));
		// Perhaps nobody has opened the pipe for writing yet.
		const isEnd = bytesRead === 0 && !(isPipe && length === 0);
		if (isEnd) return room.subarray(0, length);
		if (bytesRead) {
			length += bytesRead;
			waitedMs = 0;
			continue;
		}
		await new Promise<void>((resolve) => {
			systemClock.wakeAt(systemClock.now() + PIPE_EVERY_MS, resolve);
		});
		waitedMs += PIPE_EVERY_MS;
	}
	return length === room.length ? room : "silent";
}

/** The number of bytes read. 0: the end. Undefined: no bytes yet. */
async function readSome(
	file: FileHandle,
	room: Buffer,
): Promise<number | undefined> {
	try {
		return (await file.read(room, 0, room.length, null)).bytesRead;
	} catch (error) {
		if (systemErrorCode(error) === "EAGAIN") return undefined;
		throw error;
	}
}
