import type { Writable } from "node:stream";
import pino from "pino";
import { dateAndTime, timeOfDay } from "../base/local-time.js";
import type { LogDetails, Logger } from "../base/logger.js";
import { LogFile } from "./log-file.js";
import { escapeControls, plainMessage } from "./plain-text.js";

/** The most lines kept until the file is known. Older ones were on stderr. */
const MOST_EARLY_LINES = 1_000;

export interface LoggerOptions {
	readonly stderr: Writable;
	readonly format: "pretty" | "json";
	/** The lowest level that is logged, on stderr and in the file. */
	readonly level: "debug" | "info" | "warn" | "error";
	/** Milliseconds since 1970. */
	readonly wallTime: () => number;
	/** The format of lines for people. */
	readonly look: LineLook;
}

/** The launcher's log: on stderr for people or as JSON, and as JSON lines in a file. */
export interface ProcessLogger extends Logger {
	/** Writes the earlier lines and all further ones to this file. If it cannot be opened, it logs a warning. */
	attachFile(path: string, care?: FileCare): void;
	/** Stops logging. */
	close(): void;
}

/** Reactions to problems with the log file. */
export interface FileCare {
	/** Makes its directory again after it was removed. */
	readonly makeDirectory: () => void;
	/** Receives the error of a line that could not be written, except for lines logged by this call itself. */
	readonly onError: (error: unknown) => void;
}

const NO_CARE: FileCare = { makeDirectory: () => {}, onError: () => {} };

export function createLogger(options: LoggerOptions): ProcessLogger {
	return new PinoLogger(options);
}

class PinoLogger implements ProcessLogger {
	private readonly pino: pino.Logger;
	private readonly stderr: Writable;
	private readonly format: (line: string) => string;
	private stderrLost = false;
	private file: LogFile | undefined;
	private onError = NO_CARE.onError;
	private isTelling = false;
	private early: string[] = [];

	constructor(options: LoggerOptions) {
		this.stderr = options.stderr;
		this.format =
			options.format === "pretty"
				? (line) => prettyLine(line, options.look)
				: escapeControls;
		options.stderr.on("error", this.loseStderr);
		this.pino = pino(
			{
				level: options.level,
				base: null,
				timestamp: () => `,"time":${options.wallTime()}`,
				formatters: {
					level: (label) => ({ level: label }),
					log: (details) => redact(details),
				},
			},
			{ write: (line: string) => this.write(line) },
		);
	}

	debug(message: string, details: LogDetails = {}): void {
		this.pino.debug(details, redactText(message));
	}

	info(message: string, details: LogDetails = {}): void {
		this.pino.info(details, redactText(message));
	}

	warn(message: string, details: LogDetails = {}): void {
		this.pino.warn(details, redactText(message));
	}

	error(message: string, details: LogDetails = {}): void {
		this.pino.error(details, redactText(message));
	}

	attachFile(path: string, care = NO_CARE): void {
		try {
			this.file = new LogFile(path, care.makeDirectory);
			this.onError = care.onError;
		} catch (error) {
			this.warn(`the launcher's log is on stderr only: ${String(error)}`);
			return;
		}
		for (const line of this.early.splice(0)) this.writeToFile(line);
	}

	close(): void {
		this.pino.level = "silent";
		this.file?.close();
		// The error of a write that has just failed is emitted a moment later.
		setImmediate(() => this.stderr.off("error", this.loseStderr));
	}

	private write(line: string): void {
		if (this.file) this.writeToFile(line);
		else if (this.early.push(line) > MOST_EARLY_LINES) this.early.shift();
		if (!this.stderrLost) this.stderr.write(this.format(line));
	}

	private writeToFile(line: string): void {
		const error = this.file?.write(line);
		if (error === undefined || this.isTelling) return;
		this.isTelling = true;
		this.onError(error);
		this.isTelling = false;
	}

	private readonly loseStderr = (): void => {
		this.stderrLost = true;
	};
}

interface LineLook {
	/** Whether the time includes the date: needed where the line is read later than it is written. */
	readonly dated: boolean;
	readonly colours: boolean;
}

interface LoggedLine {
	readonly level: string;
	/** Milliseconds since 1970. */
	readonly time: number;
	readonly msg: string;
}

const LEVELS = new Map([
	["error", { word: "error: ", colour: 31 }],
	["warn", { word: "warning: ", colour: 33 }],
]);

/**
 * `12:03:04.123 RUNNING→STOPPING rank 2 failed: exit code 1`, made from the JSON of the log file. The details stay in the
 * file.
 */
function prettyLine(json: string, look: LineLook): string {
	const { level, time, msg }: LoggedLine = JSON.parse(json);
	const clock = look.dated ? dateAndTime(time) : timeOfDay(time);
	const milliseconds = String(time % 1_000).padStart(3, "0");
	const { word = "", colour } = LEVELS.get(level) ?? {};
	const message = `${word}${plainMessage(msg)}`;
	const paint = (text: string, code: number | undefined) =>
		look.colours && code !== undefined ? `\x1b[${code}m${text}\x1b[39m` : text;
	return `${paint(`${clock}.${milliseconds}`, 90)} ${paint(message, colour)}\n`;
}

const SECRET_NAME =
	/pass(word|wd|phrase)?$|secret|token$|api_?key|access_?key|private_?key|credential|authorization|cookie/i;
/** The password of `scheme://user:password@host`. */
const USERINFO = /(\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*):[^\s/@]+@/gi;
const HIDDEN = "[redacted]";
/** Deeper values are left out: no intended detail nests so deep. */
const DEEPEST = 6;

/**
 * The details of a log line without secrets, which it finds by their names, and without passwords in addresses. Errors
 * keep message and stack.
 */
export function redact(details: LogDetails): Record<string, unknown> {
	return redactFields(details, 0);
}

/** A text without passwords in addresses. */
function redactText(text: string): string {
	return text.replace(USERINFO, `$1:${HIDDEN}@`);
}

function redactFields(fields: object, depth: number): Record<string, unknown> {
	const entries = Object.entries(fields).map(([name, value]) => [
		name,
		SECRET_NAME.test(name) && value !== undefined && value !== null
			? HIDDEN
			: redactValue(value, depth + 1),
	]);
	return Object.fromEntries(entries);
}

function redactValue(value: unknown, depth: number): unknown {
	if (typeof value === "string") return redactText(value);
	if (typeof value === "bigint") return String(value);
	if (typeof value !== "object" || value === null) return value;
	if (depth > DEEPEST) return "[too deep]";
	if (Array.isArray(value)) {
		return value.map((element) => redactValue(element, depth + 1));
	}
	if (value instanceof Error) {
		return {
			message: redactText(value.message),
			stack: redactText(value.stack ?? ""),
			...redactFields(value, depth),
		};
	}
	return redactFields(value, depth);
}
