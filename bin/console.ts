import { closeSync, openSync } from "node:fs";
import type { Writable } from "node:stream";
import { isatty } from "node:tty";
import { systemClock } from "../src/base/clock.js";
import { EXIT_CODES, systemErrorCode } from "../src/base/errors.js";
import { plainJson, plainText } from "../src/logs/index.js";

/** The screen on stderr that takes its messages. */
let overlay: Writable | undefined;

/** Sends messages to this screen; undefined: to stderr again. */
export function sayOn(stream: Writable | undefined): void {
	overlay = stream;
}

/** Writes a message of the command to stderr, with the command's name before each line. */
export function say(message: string): void {
	const messages = overlay ?? process.stderr;
	for (const line of plainText(message).split("\n")) {
		messages.write(`elastic-run: ${line}\n`);
	}
}

/** The reader is gone: `| head`, a closed terminal, or a pipe that this process closed. */
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
 * Node waits at each write to a terminal. A stopped one (Ctrl-S) or a hanging connection would stop the launcher, and its
 * lease would expire. This makes the output wait instead, unless others write through the same descriptors.
 */
export function letTerminalsLag(): void {
	for (const stream of [process.stdout, process.stderr]) {
		if (!stream.isTTY) continue;
		const handle: unknown = Reflect.get(stream, "_handle");
		if (isOwnTerminal(handle)) handle.setBlocking(false);
	}
}

/** Whether libuv has reopened the terminal, so that its mode is this process's alone. */
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

/** Whether the stream accepts colours. */
export function isColoured(stream: NodeJS.WriteStream): boolean {
	return stream.isTTY && !process.env.NO_COLOR;
}

/** Whether output of `print` was lost although its reader was there. */
let isLost = false;

/** Prints a command's result. If it is lost, the command has failed, unless the reader left. */
export function print(
	text: string,
	onTaken: (error: Error | null | undefined) => void = () => {},
): void {
	process.stdout.write(text, (error) => {
		isLost ||= Boolean(error) && !isReaderGone(error);
		onTaken(error);
	});
}

/** Prints a result as one line of JSON, or as text. Names in it may come from elsewhere, so control sequences are removed. */
export function printResult(
	isJson: boolean,
	value: unknown,
	words: () => string,
): void {
	if (isJson) print(`${plainJson(value)}\n`);
	else print(words().split("\n").map(plainText).join("\n"));
}

function isReaderGone(error: unknown): boolean {
	return READER_GONE.includes(systemErrorCode(error));
}

/** How long to wait for a slow reader, but not for one that reads nothing. */
const PATIENCE_MS = 1_000;

const haste = new AbortController();

/** Ends the process once everything written was handed to the system. */
export function exitWhenWritten(exitCode: number): void {
	process.exitCode = exitCode;
	const end = () => process.exit(exitCode || (isLost ? EXIT_CODES.failed : 0));
	const endSoon = () => {
		systemClock.wakeAt(systemClock.now() + PATIENCE_MS, () => {
			if (process.stdout.writableLength > 0)
				say(
					"the rest of stdout is lost: it was not read within a second of the signal",
				);
			end();
		});
	};
	if (haste.signal.aborted) endSoon();
	else haste.signal.addEventListener("abort", endSoon);
	process.stdout.write("", () => {
		// After the messages about a failure.
		setImmediate(() => process.stderr.write("", end));
	});
}

/** The end of the process waits at most a second for readers of its output. */
export function hurryToExit(): void {
	haste.abort();
}

/**
 * At its end Node resets the mode of its terminals, and crashes if one is gone (a closed window, a lost connection),
 * which would lose the exit code.
 */
export function outliveTerminals(): void {
	const terminals = [0, 1, 2].filter((descriptor) => isatty(descriptor));
	process.once("exit", () => {
		for (const terminal of terminals) {
			if (!isatty(terminal)) replaceByNothing(terminal);
		}
	});
}

/** The next opened file gets the number that has just become free. */
function replaceByNothing(descriptor: number): void {
	try {
		closeSync(descriptor);
		openSync("/dev/null", "r+");
	} catch {
		// Node does not treat a closed one as a terminal.
	}
}
