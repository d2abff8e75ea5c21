import { inspect } from "node:util";

/** An error in words, as torch's `@record` writes it: its name and its message. */
export function describeError(error: unknown): string {
	const { type, message } = messageAndType(error);
	return type === null ? message : `${type}: ${message}`;
}

/** The type is null for what is no error: anything may be thrown. */
export function messageAndType(error: unknown): {
	readonly type: string | null;
	readonly message: string;
} {
	if (error instanceof Error) {
		return { type: error.name, message: error.message };
	}
	const message = typeof error === "string" ? error : inspect(error);
	return { type: null, message };
}

/** Its stack with its causes, as Node prints them; undefined if it is no error. */
export function stackOf(error: unknown): string | undefined {
	return error instanceof Error ? inspect(error) : undefined;
}

/**
 * The text of an error file, in the format of torch's `@record`. `timestamp`: milliseconds since 1970. `origin`: how the
 * error surfaced.
 */
export function errorFileText(
	error: unknown,
	timestamp: number,
	origin: string,
): string {
	const message = describeError(error);
	return JSON.stringify({
		message: {
			message,
			extraInfo: {
				py_callstack: stackOf(error) ?? message,
				timestamp: String(Math.floor(timestamp / 1000)),
				origin,
			},
		},
	});
}
