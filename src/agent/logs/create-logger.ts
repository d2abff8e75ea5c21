import type { Writable } from "node:stream";
import pino from "pino";
import type { LogDetails, Logger } from "../logger.js";
import { LogFile } from "./log-file.js";
import { plainMessage } from "./plain-text.js";
import { redact, redactText } from "./redact.js";

/** Lines kept for the file until it is known; older ones were on stderr. */
const MOST_EARLY_LINES = 1_000;

export interface LoggerOptions {
	readonly stderr: Writable;
	readonly format: "pretty" | "json";
	/** The least level that is logged, on stderr and in the file. */
	readonly level: "debug" | "info" | "warn" | "error";
	/** Milliseconds since 1970. */
	readonly wallTime: () => number;
	/** Whether pretty lines are coloured. */
	readonly colour: boolean;
}

/** The launcher's own log: on stderr for people or as JSON, and always as JSON lines in a file. */
export interface ProcessLogger extends Logger {
	/** Appends to this file from now on, the earlier lines first. A file that cannot be opened is a warning. */
	attachFile(path: string): void;
	/** Nothing is logged after it. */
	close(): void;
}

/** pino-pretty is loaded only where it is needed: it costs a quarter of a start. */
export async function createLogger(
	options: LoggerOptions,
): Promise<ProcessLogger> {
	const format =
		options.format === "pretty"
			? await prettyFormat(options.colour)
			: (line: string) => line;
	return new PinoLogger(options, format);
}

/** `12:03:04.123 RUNNING→STOPPING rank 2 failed: exit code 1`: details are in the file. */
async function prettyFormat(
	colour: boolean,
): Promise<(line: string) => string> {
	const { prettyFactory } = await import("pino-pretty");
	return prettyFactory({
		colorize: colour,
		ignore: "time,level",
		hideObject: true,
		messageFormat: (log, messageKey, _label, { colors }) => {
			const time = colors.gray(timeOfDay(Number(log.time)));
			const message = plainMessage(String(log[messageKey]));
			if (log.level === "error")
				return `${time} ${colors.red(`error: ${message}`)}`;
			if (log.level === "warn")
				return `${time} ${colors.yellow(`warning: ${message}`)}`;
			return `${time} ${message}`;
		},
	});
}

function timeOfDay(wallTime: number): string {
	const date = new Date(wallTime);
	const two = (value: number) => String(value).padStart(2, "0");
	const clock = [date.getHours(), date.getMinutes(), date.getSeconds()];
	const milliseconds = String(date.getMilliseconds()).padStart(3, "0");
	return `${clock.map(two).join(":")}.${milliseconds}`;
}

class PinoLogger implements ProcessLogger {
	readonly #pino: pino.Logger;
	readonly #stderr: Writable;
	readonly #format: (line: string) => string;
	#stderrLost = false;
	#file: LogFile | undefined;
	#early: string[] = [];

	constructor(options: LoggerOptions, format: (line: string) => string) {
		this.#stderr = options.stderr;
		this.#format = format;
		options.stderr.on("error", this.#loseStderr);
		this.#pino = pino(
			{
				level: options.level,
				base: null,
				timestamp: () => `,"time":${options.wallTime()}`,
				formatters: {
					level: (label) => ({ level: label }),
					log: (details) => redact(details),
				},
			},
			{ write: (line: string) => this.#write(line) },
		);
	}

	debug(message: string, details: LogDetails = {}): void {
		this.#pino.debug(details, redactText(message));
	}

	info(message: string, details: LogDetails = {}): void {
		this.#pino.info(details, redactText(message));
	}

	warn(message: string, details: LogDetails = {}): void {
		this.#pino.warn(details, redactText(message));
	}

	error(message: string, details: LogDetails = {}): void {
		this.#pino.error(details, redactText(message));
	}

	attachFile(path: string): void {
		try {
			this.#file = new LogFile(path);
		} catch (error) {
			this.warn(`the launcher's log is on stderr only: ${String(error)}`);
			return;
		}
		for (const line of this.#early.splice(0)) this.#file.write(line);
	}

	close(): void {
		this.#pino.level = "silent";
		this.#file?.close();
		// The error of a write that failed just now is emitted a moment later.
		setImmediate(() => this.#stderr.off("error", this.#loseStderr));
	}

	#write(line: string): void {
		if (this.#file) this.#file.write(line);
		else if (this.#early.push(line) > MOST_EARLY_LINES) this.#early.shift();
		if (!this.#stderrLost) this.#stderr.write(this.#format(line));
	}

	readonly #loseStderr = (): void => {
		this.#stderrLost = true;
	};
}
