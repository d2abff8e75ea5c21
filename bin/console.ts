import type { Writable } from "node:stream";
import { systemErrorCode } from "../src/errors.js";

/** What is laid over stderr, and gets its messages. */
let overlay: Writable | undefined;

/** Lets messages go to what is laid over stderr; undefined: to stderr again. */
export function sayOn(stream: Writable | undefined): void {
	overlay = stream;
}

/** Writes a message of the command's own to stderr, each line with its name before it. */
export function say(message: string): void {
	const messages = overlay ?? process.stderr;
	for (const line of message.split("\n")) {
		messages.write(`elastic-run: ${line}\n`);
	}
}

/** The reader is gone: `| head`, or a terminal that was closed; and a pipe of our own that was given up for it. */
const READER_GONE: readonly (string | undefined)[] = [
	...["EPIPE", "EIO"],
	"ERR_STREAM_DESTROYED",
];

/** A console that cannot be written to must not end the supervision of the workers. */
export function keepConsoleHarmless(): void {
	process.stderr.on("error", () => {});
	process.stdout.on("error", (error) => {
		if (isReaderGone(error)) return;
		say(`cannot write to stdout: ${error.message}`);
	});
}

/**
 * Node waits for a terminal at each write: one that is stopped (Ctrl-S), or a
 * connection that hangs, would stop the launcher, and with it its lease. From now
 * on what is written waits instead. Not where others write through the same descriptors.
 */
export function letTerminalsLag(): void {
	for (const stream of [process.stdout, process.stderr]) {
		if (!stream.isTTY) continue;
		const handle: unknown = Reflect.get(stream, "_handle");
		if (isOwnTerminal(handle)) handle.setBlocking(false);
	}
}

/** A terminal that libuv has opened anew, so that its mode is nobody else's. */
function isOwnTerminal(
	handle: unknown,
): handle is { setBlocking(isBlocking: boolean): number } {
	return (
		typeof handle === "object" &&
		handle !== null &&
		"setBlocking" in handle &&
		typeof handle.setBlocking === "function" &&
		"fd" in handle &&
		Number(handle.fd) > 2
	);
}

let isLost = false;

/** Whether something that `print` was given could not be written, although its reader was there. */
export function isPrintLost(): boolean {
	return isLost;
}

/** Writes what a command was asked for: where it is lost, the command has failed, unless its reader went. */
export function print(
	text: string,
	onTaken: (error: Error | null | undefined) => void = () => {},
): void {
	process.stdout.write(text, (error) => {
		isLost ||= Boolean(error) && !isReaderGone(error);
		onTaken(error);
	});
}

function isReaderGone(error: unknown): boolean {
	return READER_GONE.includes(systemErrorCode(error));
}
