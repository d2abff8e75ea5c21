import {
	closeSync,
	constants,
	fstatSync,
	openSync,
	readFileSync,
	renameSync,
	rmSync,
	type Stats,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { ElasticRunError, systemErrorCode } from "../base/errors.js";
import { MESSAGE_LIMIT_BYTES } from "./layout.js";

/** A file's text and the stat of that same file. */
export interface MessageText {
	readonly text: string;
	readonly stat: Stats;
}

const OPEN_NEW =
	constants.O_CREAT |
	constants.O_EXCL |
	constants.O_WRONLY |
	constants.O_NOFOLLOW;

const OPEN_TO_FILL = constants.O_WRONLY | constants.O_NOFOLLOW;

/** Without O_NONBLOCK, opening a FIFO there would wait for ever. */
const OPEN_TO_READ =
	constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Throws CHANNEL if a message is too large. `what` names it in the message. */
export function requireMessageSize(text: string, what: string): void {
	const bytes = Buffer.byteLength(text);
	if (bytes <= MESSAGE_LIMIT_BYTES) return;
	throw new ElasticRunError(
		"CHANNEL",
		`The message (${what}) has ${bytes} bytes; the channel takes at most ${MESSAGE_LIMIT_BYTES}. Put large data into a file and send its path.`,
	);
}

/** How many names of temporary files this process has used. */
let namesUsed = 0;

/** Writes a new file (mode 0600) under an unused name and returns its path. Leaves nothing behind if it fails. */
export function writeTemporary(directory: string, text: string): string {
	for (;;) {
		const path = join(directory, `.${process.pid}.${namesUsed++}.tmp`);
		try {
			writeNew(path, text);
			return path;
		} catch (error) {
			if (systemErrorCode(error) !== "EEXIST") throw error;
		}
	}
}

/** Fills an empty file made by `writeTemporary`. */
export function fillTemporary(path: string, text: string): void {
	const descriptor = openSync(path, OPEN_TO_FILL);
	try {
		writeFileSync(descriptor, text);
	} finally {
		closeSync(descriptor);
	}
}

/** Replaces a whole file: a reader sees the old text or the new one, never a part. */
export function replaceFile(
	path: string,
	text: string,
	temporaryDirectory: string,
): void {
	const temporary = writeTemporary(temporaryDirectory, text);
	try {
		renameSync(temporary, path);
	} catch (error) {
		rmSync(temporary, { force: true });
		throw error;
	}
}

/** Reads a message; undefined if there is no such file. Throws if it is no regular file, a symbolic link, or too large. */
export function readMessage(path: string): MessageText | undefined {
	const descriptor = openIfThere(path);
	if (descriptor === undefined) return undefined;
	try {
		const stat = fstatSync(descriptor);
		if (!stat.isFile()) throw new Error("it is not a regular file");
		if (stat.size > MESSAGE_LIMIT_BYTES) {
			throw new Error(`it has more than ${MESSAGE_LIMIT_BYTES} bytes`);
		}
		return { text: readFileSync(descriptor, "utf8"), stat };
	} finally {
		closeSync(descriptor);
	}
}

function writeNew(path: string, text: string): void {
	const descriptor = openSync(path, OPEN_NEW, 0o600);
	try {
		writeFileSync(descriptor, text);
	} catch (error) {
		rmSync(path, { force: true });
		throw error;
	} finally {
		closeSync(descriptor);
	}
}

function openIfThere(path: string): number | undefined {
	try {
		return openSync(path, OPEN_TO_READ);
	} catch (error) {
		if (systemErrorCode(error) === "ENOENT") return undefined;
		throw error;
	}
}

/** Whether the system, not the file, made reading fail (no descriptors left, say): a later try may succeed. */
export function isPassing(error: unknown): boolean {
	const code = systemErrorCode(error);
	return code !== undefined && code !== "ELOOP";
}
